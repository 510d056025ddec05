import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { anthropicClient, chatClient, geminiClient, responsesClient, shellSchema } from "./clients.ts";
import type { Client, Reply, Turn } from "./clients.ts";
import { at, list } from "./json.ts";
import { digest } from "./script.ts";
import { startModelServer } from "./server.ts";
import type { ModelServer } from "./server.ts";

let server: ModelServer;

beforeAll(async () => {
  server = await startModelServer();
});

afterAll(() => server.close());

/** The server logs a request a moment after its reply is done. */
const soonLogged = { timeout: 15_000 };

const send = (client: Client, turns: Turn[], leave?: boolean): Promise<Reply> => client.send(server.url, turns, leave);

describe.each([anthropicClient, responsesClient, chatClient, geminiClient])("$name", (client) => {
  test("replies with the scripted text", async () => {
    const reply = await send(client, [{ user: "say: hello there\nthis line is no step\nsay: again" }]);
    expect(reply).toEqual({ status: 200, text: "hello there\nagain\n", toolCalls: [] });
  });

  test("calls the agent's shell tool, then continues after its result", async () => {
    const user = "say: first\ntool: bash ls -l\nsay: last";
    const first = await send(client, [{ user }]);
    expect(first).toEqual({ status: 200, text: "first\n", toolCalls: [client.shellCall] });
    const second = await send(client, [{ user }, { assistant: "first" }, { toolResult: "total 0" }]);
    expect(second).toEqual({ status: 200, text: "last\n", toolCalls: [] });
  });

  test("repeats a tool result if the script ends with the call", async () => {
    const reply = await send(client, [{ user: "tool: bash ls" }, { assistant: "" }, { toolResult: "total 0" }]);
    expect(reply.text).toMatch(/tool said: .*total 0/);
  });

  test("repeats what it was sent before", async () => {
    const earlier = [{ user: "say: one" }, { assistant: "one" }, { user: "not a turn" }, { assistant: "ok" }];
    const reply = await send(client, [...earlier, { user: "history?" }]);
    expect(reply.text).toBe(`history: turns=1 digest=${digest(["say: one"])} replies=2\n`);
  });

  test("fails as often as the script demands", async () => {
    const turns = [{ user: `fail: 529 x 1\nsay: well, ${client.name}` }];
    expect((await send(client, turns)).status).toBe(529);
    expect((await send(client, turns)).text).toBe(`well, ${client.name}\n`);
  });

  test("waits at a gate until it is opened", async () => {
    const reply = send(client, [{ user: `say: before\ngate: ${client.name}\nsay: after` }]);
    const first = await Promise.race([reply, soon()]);
    server.openGate(client.name);
    expect(first).toBeUndefined();
    expect((await reply).text).toBe("before\nafter\n");
  });

  test("hangs until the client disconnects", async () => {
    const script = `say: ${client.name} stays\nhang`;
    await expect(send(client, [{ user: script }], true)).rejects.toThrow(/abort/);
    const outcome = () => server.log.findLast(({ turns }) => turns?.[0] === script)?.outcome;
    await expect.poll(outcome, soonLogged).toBe("client gone");
  });

  test("drops the connection", async () => {
    await expect(send(client, [{ user: "say: half\ndrop" }])).rejects.toThrow(/terminated|fetch failed/);
  });
});

test("streams with pauses", async () => {
  const started = performance.now();
  const reply = await send(chatClient, [{ user: "slow: 3 x 10ms" }]);
  expect(reply.text).toBe("tick 1/3\ntick 2/3\ntick 3/3\n");
  expect(performance.now() - started).toBeGreaterThanOrEqual(29);
});

test("writes a file with the tool for it, or with a patch", async () => {
  const reply = await send(responsesClient, [{ user: "write: /tmp/a.txt some text" }]);
  const input = "*** Begin Patch\n*** Add File: /tmp/a.txt\n+some text\n*** End Patch\n";
  expect(reply.toolCalls).toEqual([{ name: "apply_patch", input }]);
});

test("answers two prompts in one message as two turns", async () => {
  const content = [
    { type: "text", text: "fail: 400" },
    { type: "text", text: "history?" },
  ];
  const tools = [{ name: "Bash", input_schema: shellSchema }];
  const body = { model: "m", stream: true, tools, messages: [{ role: "user", content }] };
  const response = await fetch(`${server.url}/v1/messages`, { method: "POST", body: JSON.stringify(body) });
  expect(await response.text()).toContain("history: turns=1");
});

test("answers a request without tools immediately, whatever the prompt", async () => {
  const properties = { score: { type: "INTEGER" }, why: { type: "STRING" } };
  const body = {
    contents: [{ role: "user", parts: [{ text: "hang" }] }],
    generationConfig: { responseJsonSchema: { type: "OBJECT", properties, required: ["score", "why"] } },
  };
  const url = `${server.url}/v1beta/models/m:generateContent`;
  const reply: unknown = await (await fetch(url, { method: "POST", body: JSON.stringify(body) })).json();
  const parts = list(at(list(at(reply, "candidates"))[0], "content", "parts"));
  expect(JSON.parse(String(parts[0]?.["text"]))).toEqual({ score: 1, why: "scripted" });
});

test("logs its requests", async () => {
  await send(chatClient, [{ user: "say: logged" }]);
  await expect.poll(() => server.log.at(-1)?.turns, soonLogged).toEqual(["say: logged"]);
  expect(server.log.at(-1)).toMatchObject({
    dialect: "openai-chat",
    outcome: "answered",
    status: 200,
    tools: ["bash"],
    auxiliary: false,
  });
});

test("reports that the agent offers no tool for a step", async () => {
  expect((await send(geminiClient, [{ user: "write: /tmp/a.txt text" }])).status).toBe(400);
});

/** Long enough for a response that does not wait, which takes a few milliseconds. */
function soon(): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(undefined), 60);
  });
}
