/** The agents of test/acp-agents, each shown to misbehave in its one way: a test that uses one must not pass by luck. */
import { spawn } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "../../../test/acp-agents/connect.ts";
import { isRunning } from "../../../test/harness/marked.ts";
import { until } from "../../../test/harness/until.ts";

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "misbehaving-"));
});
afterAll(() => rmSync(directory, { recursive: true }));

/** An agent on plain pipes: the official client would hide what is wrong. */
class Agent implements AsyncDisposable {
  readonly child: ChildProcessWithoutNullStreams;
  readonly closed: Promise<unknown[]>;
  readonly #chunks: Buffer[] = [];
  bytes = 0;

  constructor(name: string, env: Record<string, string> = {}) {
    const program = join(root, "test/acp-agents", `${name}.ts`);
    this.child = spawn(process.execPath, [program], { env: { ...process.env, ...env } });
    this.closed = once(this.child, "close");
    this.child.stdin.on("error", () => {});
    this.child.stdout.on("data", (chunk: Buffer) => {
      this.bytes += chunk.length;
      if (this.bytes < 1_000_000) this.#chunks.push(chunk);
    });
  }

  get output(): string {
    return Buffer.concat(this.#chunks).toString();
  }

  ask(method: string, params: object = {}, id: string | null = method): void {
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...(id === null ? {} : { id }), method, params })}\n`);
  }

  async answer(id: string): Promise<{ result?: unknown; error?: { code: number } }> {
    const lines = (): string[] => this.output.split("\n").slice(0, -1);
    const found = await until(`the answer to ${id}`, () => lines().find((line) => line.includes(`"id":"${id}"`)));
    return JSON.parse(found) as { result?: unknown; error?: { code: number } };
  }

  /** Opens a session as a client does; the answer proves that all is well so far. */
  async open(): Promise<void> {
    this.ask("initialize");
    this.ask("session/new", { cwd: directory, mcpServers: [] });
    const { error } = await this.answer("session/new");
    if (error !== undefined) throw new Error(`no session: ${error.code}`);
  }

  prompt(id = "p"): void {
    this.ask("session/prompt", { sessionId: "s", prompt: [{ type: "text", text: "hello" }] }, id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill("SIGKILL");
    await this.closed;
  }
}

const endTurn = { result: { stopReason: "end_turn" } };

test("[DEMO-13] never-answers-initialize: reads on and stays silent, also when more is asked", async () => {
  await using agent = new Agent("never-answers-initialize");
  agent.ask("initialize");
  agent.ask("session/new");
  await agent.answer("session/new");
  expect(agent.output).not.toContain('"id":"initialize"');
});

test("[DEMO-13] exits-at-once and dies-mid-turn: the exit status, and the output before it", async () => {
  await using early = new Agent("exits-at-once", { EXITS_WITH: "4" });
  await using late = new Agent("dies-mid-turn");
  await late.open();
  late.prompt();
  expect(await early.closed).toEqual([4, null]);
  expect(await late.closed).toEqual([null, "SIGKILL"]);
  expect(late.output).toContain("last words");
  expect(late.output).not.toContain('"id":"p"');
});

test("[DEMO-13] floods: writes until it is cancelled, or as much as requested", async () => {
  await using agent = new Agent("floods");
  await agent.open();
  agent.prompt();
  await until("ten megabytes", () => agent.bytes > 10_000_000);
  expect(agent.child.exitCode).toBeNull();
  await using some = new Agent("floods", { FLOODS_MB: "0.1" });
  await some.open();
  some.prompt();
  expect(await some.answer("p")).toMatchObject(endTurn);
});

test("[DEMO-13] one-huge-line: a complete line of that size, followed by an ordinary one", async () => {
  await using agent = new Agent("one-huge-line", { HUGE_LINE_BYTES: "400000" });
  await agent.open();
  agent.prompt();
  expect(await agent.answer("p")).toMatchObject(endTurn);
  const lines = agent.output.split("\n");
  const huge = lines.findIndex((line) => line.length === 399_999);
  expect(() => JSON.parse(lines[huge]!) as unknown).not.toThrow();
  expect(lines[huge + 1]).toContain("after the huge line");
});

test("[DEMO-13] invalid-json: bad lines between good ones; answers-twice: two answers to one prompt", async () => {
  await using bad = new Agent("invalid-json");
  await using twice = new Agent("answers-twice");
  await Promise.all([bad.open(), twice.open()]);
  bad.prompt();
  twice.prompt();
  expect(await bad.answer("p")).toMatchObject(endTurn);
  expect(bad.output).toMatch(/before[^]*this is a log line\n[^]*after/);
  await until("the second answer", () => twice.output.split('"id":"p"').length === 3);
});

test("[DEMO-13] ignores-sigterm: neither a signal nor the end of its input ends it", async () => {
  await using agent = new Agent("ignores-sigterm");
  await using other = new Agent("answers-twice");
  await Promise.all([agent.open(), other.open()]);
  agent.child.kill("SIGTERM");
  agent.prompt();
  expect(await agent.answer("p")).toMatchObject(endTurn);
  agent.child.stdin.end();
  await once(agent.child.stdin, "finish");
  agent.child.kill("SIGTERM");
  // Another agent whose input ends later, and that minds it, is gone by now.
  other.child.stdin.end();
  expect(await other.closed).toEqual([0, null]);
  expect(isRunning(agent.child.pid!)).toBe(true);
});

test("[DEMO-13] setsids-children: the child outlives the agent and SIGTERM", async () => {
  await using agent = new Agent("setsids-children");
  await agent.open();
  agent.prompt();
  await agent.answer("p");
  const child = Number(/child (\d+)/.exec(agent.output)?.[1]);
  try {
    agent.child.stdin.end();
    expect(await agent.closed).toEqual([0, null]);
    expect(isRunning(child)).toBe(true);
  } finally {
    process.kill(-child, "SIGKILL");
  }
  await until("the child's end", () => !isRunning(child));
});

test("[DEMO-13] unknown-notifications: sends unknown requests and reports the responses", async () => {
  await using agent = new Agent("unknown-notifications");
  await agent.open();
  agent.prompt();
  await agent.answer("q-1");
  agent.child.stdin.write('{"jsonrpc":"2.0","id":"q-1","error":{"code":-32601,"message":"Method not found"}}\n');
  expect(await agent.answer("p")).toMatchObject(endTurn);
  expect(agent.output).toMatch(/_weather\/changed[^]*mood_update[^]*answered -32601/);
});

test("[DEMO-13] auth-required and forgets-sessions: refused with their codes", async () => {
  await using auth = new Agent("auth-required");
  await using forgetful = new Agent("forgets-sessions");
  auth.ask("session/new");
  expect(await auth.answer("session/new")).toMatchObject({ error: { code: -32000 } });
  await forgetful.open();
  forgetful.ask("session/load", { sessionId: "s" });
  expect(await forgetful.answer("session/load")).toMatchObject({ error: { code: -32002 } });
});

test("[DEMO-13] slow-to-load: replays immediately, responds when allowed, and replays a little more", async () => {
  const gate = join(directory, "load");
  await using agent = new Agent("slow-to-load", { LOAD_GATE: gate });
  agent.ask("initialize");
  agent.ask("session/load", { sessionId: "s" });
  await until("the replay", () => agent.output.includes("an old answer"));
  expect(agent.output).not.toContain('"id":"session/load"');
  writeFileSync(gate, "");
  await agent.answer("session/load");
  await until("the rest", () => agent.output.includes("too late"));
});

test("[DEMO-13] asks-then-waits: a cancel alone does not end its turn, the answer does", async () => {
  await using agent = new Agent("asks-then-waits");
  await agent.open();
  agent.prompt();
  await until("the question", () => agent.output.includes("session/request_permission"));
  agent.ask("session/cancel", { sessionId: "s" }, null);
  agent.ask("session/load", { sessionId: "s" });
  await agent.answer("session/load");
  expect(agent.output).not.toContain('"id":"p"');
  agent.child.stdin.write('{"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"cancelled"}}}\n');
  expect(await agent.answer("p")).toMatchObject({ result: { stopReason: "cancelled" } });
});
