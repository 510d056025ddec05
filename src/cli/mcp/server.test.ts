import { expect, test } from "vitest";
import { createMcpServer, type Tool } from "./server.ts";

const echo: Tool = {
  name: "echo",
  title: "Echo",
  description: "Says it again.",
  inputSchema: {
    type: "object",
    properties: { text: { type: "string" }, times: { type: "integer" }, how: { type: "string", enum: ["a", "b"] } },
    required: ["text"],
    additionalProperties: false,
  },
  readOnly: true,
  run: async ({ text }) => {
    if (text === "fail") throw new Error("it failed");
    return String(text);
  },
};

function world(tools: Tool[] = [echo]) {
  const lines: string[] = [];
  const server = createMcpServer({
    name: "holdfast",
    version: "1",
    instructions: "Be kind.",
    tools,
    write: (line) => lines.push(line),
  });
  return {
    server,
    ask: async (...messages: object[]) => {
      for (const message of messages) server.take(JSON.stringify({ jsonrpc: "2.0", ...message }));
      await new Promise((resolve) => setImmediate(resolve));
      return lines.splice(0).map((line) => JSON.parse(line) as Record<string, unknown>);
    },
  };
}

const call = (id: number, input: unknown, name = "echo") => ({
  id,
  method: "tools/call",
  params: { name, arguments: input },
});

test("[MCP-1] a client is introduced in its own version of the protocol, or offered the newest", async () => {
  const { ask } = world();
  const [known, unknown] = await ask(
    { id: 1, method: "initialize", params: { protocolVersion: "2024-11-05" } },
    { id: 2, method: "initialize", params: { protocolVersion: "1999-01-01" } },
  );
  expect(known).toMatchObject({ id: 1, result: { protocolVersion: "2024-11-05", instructions: "Be kind." } });
  expect(unknown).toMatchObject({ result: { protocolVersion: "2025-06-18", capabilities: { tools: {} } } });
  expect(await ask({ method: "notifications/initialized" })).toEqual([]);
  expect(await ask({ id: 3, method: "ping" })).toEqual([{ jsonrpc: "2.0", id: 3, result: {} }]);
});

test("[MCP-1] tools are listed with their schemas and called; a failure is an answer for the model", async () => {
  const { ask } = world();
  expect(await ask({ id: 1, method: "tools/list" })).toMatchObject([
    { result: { tools: [{ name: "echo", annotations: { readOnlyHint: true } }] } },
  ]);
  expect(await ask(call(2, { text: "hello" }))).toMatchObject([
    { id: 2, result: { content: [{ type: "text", text: "hello" }], isError: false } },
  ]);
  expect(await ask(call(3, { text: "fail" }))).toMatchObject([{ result: { isError: true } }]);
});

test("[MCP-2] invalid arguments, tools, methods and lines are reported, and nothing runs", async () => {
  const { ask, server } = world();
  for (const [input, says] of [
    [{}, "text is missing."],
    [{ text: 1 }, "text must be of type string."],
    [{ text: "x", other: 1 }, "There is no argument other"],
    [{ text: "x", how: "c" }, "how must be one of a, b."],
    [[1], "The arguments must be an object."],
  ] as const) {
    const [answer] = await ask(call(1, input));
    expect(answer).toMatchObject({ result: { isError: true } });
    expect(JSON.stringify(answer)).toContain(says);
  }
  expect(await ask(call(2, {}, "none"))).toMatchObject([{ error: { code: -32602 } }]);
  expect(await ask({ id: 3, method: "resources/list" })).toMatchObject([{ error: { code: -32601 } }]);
  server.take("{");
  expect(await ask()).toMatchObject([{ id: null, error: { code: -32700 } }]);
});

test("[MCP-3] a waiting call blocks no other, and a cancelled one gets no response", async () => {
  const gate = Promise.withResolvers<string>();
  let aborted = false;
  const slow: Tool = {
    ...echo,
    name: "slow",
    run: (_, signal) => {
      signal.addEventListener("abort", () => (aborted = true));
      return gate.promise;
    },
  };
  const { ask } = world([echo, slow]);
  expect(await ask(call(1, { text: "x" }, "slow"), call(2, { text: "quick" }))).toMatchObject([{ id: 2 }]);
  await ask({ method: "notifications/cancelled", params: { requestId: 1 } });
  gate.resolve("late");
  expect(await ask()).toEqual([]);
  expect(aborted).toBe(true);
});
