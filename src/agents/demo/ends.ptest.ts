/** How the demo agent for chats ends, what it says in which order, and that it needs nothing but lines. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { demoAgent } from "../../../test/acp-agents/connect.ts";
import { isRunning } from "../../../test/harness/marked.ts";
import { until } from "../../../test/harness/until.ts";

let cwd: string;

beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), "demo-ends-"));
});
afterAll(() => rmSync(cwd, { recursive: true }));

test.each([
  ["the end of its input", (child: ReturnType<typeof run>["child"]) => void child.stdin.end()],
  ["SIGTERM", (child: ReturnType<typeof run>["child"]) => void child.kill("SIGTERM")],
])("[DEMO-12] at %s during a turn it exits with 0, stops its tools, and finishes nothing", async (_, end) => {
  const { child, lines } = run();
  try {
    const sessionId = await open(child, lines);
    ask(child, "p", "session/prompt", {
      sessionId,
      prompt: [{ type: "text", text: "tool: sh -c 'echo pid $$; sleep 600 & wait'" }],
    });
    const pid = await until("the tool", () => Number(/pid (\d+)/.exec(lines().join("\n"))?.[1]) || null);
    const closed = once(child, "close");
    end(child);
    expect(await closed).toEqual([0, null]);
    await until("the tool's end", () => !isRunning(pid));
    expect(lines().filter((line) => line.includes('"id":"p"'))).toEqual([]);
    expect(() => lines().map((line) => JSON.parse(line) as unknown)).not.toThrow();
  } finally {
    child.kill("SIGKILL");
  }
});

test("[DEMO-12] it exits when its output is no longer read", async () => {
  const { child, lines } = run();
  try {
    const sessionId = await open(child, lines);
    const closed = once(child, "exit");
    child.stdout.destroy();
    ask(child, "p", "session/prompt", { sessionId, prompt: [{ type: "text", text: "slow: 1000 x 5ms" }] });
    expect(await closed).toEqual([0, null]);
  } finally {
    child.kill("SIGKILL");
  }
});

test("[DEMO-6] `later` text arrives after the turn has ended", async () => {
  const { child, lines } = run();
  try {
    const sessionId = await open(child, lines);
    ask(child, "p", "session/prompt", { sessionId, prompt: [{ type: "text", text: "later: by the way\nsay: now" }] });
    const place = (words: string): number => lines().findIndex((line) => line.includes(words));
    await until("the words", () => place('"by the way\\n"') > 0);
    expect(place('"now\\n"')).toBeLessThan(place('"id":"p"'));
    expect(place('"id":"p"')).toBeLessThan(place('"by the way\\n"'));
    expect(place('"now\\n"')).toBeGreaterThan(0);
  } finally {
    child.kill("SIGKILL");
  }
});

type Program = ReturnType<typeof run>["child"];

async function open(child: Program, lines: () => string[]): Promise<string> {
  ask(child, "i", "initialize", { protocolVersion: 1 });
  ask(child, "n", "session/new", { cwd, mcpServers: [] });
  const answer = await until("the session", () => lines().find((line) => line.includes('"id":"n"')));
  return (JSON.parse(answer) as { result: { sessionId: string } }).result.sessionId;
}

function ask(child: Program, id: string, method: string, params: object): void {
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
}

function run() {
  const child = spawn(process.execPath, [demoAgent], {
    env: { ...process.env, HOLDFAST_DEMO_CONVERSATIONS: join(cwd, "conversations") },
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  child.stdin.on("error", () => {});
  return { child, lines: () => text.split("\n").slice(0, -1) };
}
