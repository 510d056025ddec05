import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawn, type ChildProcess } from "node:child_process";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readClaudePrompts, readCodexPrompts, readGeminiPrompts } from "./transcripts.ts";

let home: string;
let child: ChildProcess;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "hf-transcripts-"));
  child = spawn("sleep", ["100"], { env: { HOME: home, PATH: process.env["PATH"] } });
});
afterEach(() => {
  child.kill("SIGKILL");
  rmSync(home, { recursive: true, force: true });
});

const since = Date.parse("2026-01-02T00:00:00Z");
const [before, after] = ["2026-01-01T23:00:00Z", "2026-01-02T00:00:05Z"];
const id = "11111111-2222-4333-8444-555555555559";

function write(path: string, lines: object[]): void {
  mkdirSync(join(home, path, ".."), { recursive: true });
  writeFileSync(join(home, path), `${lines.map((line) => JSON.stringify(line)).join("\n")}\n{"cut`);
}

const of = (agentSessionId: string | null = id) => ({
  process: { pid: child.pid!, startTime: "" },
  workspace: "/tmp/w.x",
  agentSessionId,
  since,
});

test("[AGENT-17] claude: earlier prompts do not count, and queued ones do", () => {
  const user = (text: string, timestamp: string) => ({ type: "user", timestamp, message: { content: text } });
  write(`.claude/projects/-tmp-w-x/${id}.jsonl`, [
    user("old", before),
    user("new", after),
    { type: "user", timestamp: after, isMeta: true, message: { content: "meta" } },
    { type: "queue-operation", operation: "enqueue", timestamp: after, content: "later" },
    { type: "assistant", timestamp: after, message: { content: "answer" } },
  ]);
  expect(readClaudePrompts(of())).toEqual(["new", "later"]);
});

test("[AGENT-17] the same prompt a moment before it was sent again does not count", () => {
  const times = ["2026-01-01T23:59:59.900Z", "2026-01-01T23:59:59Z", "2026-01-02T00:00:00.001Z"];
  const lines = times.map((timestamp) => ({ type: "user", timestamp, message: { content: timestamp } }));
  write(`.claude/projects/-tmp-w-x/${id}.jsonl`, lines);
  expect(readClaudePrompts(of())).toEqual(times.slice(1));
});

const codexLine = (role: string, text: string, timestamp: string) => ({
  timestamp,
  type: "response_item",
  payload: { type: "message", role, content: [{ type: "input_text", text }] },
});
const codexMeta = (cwd: string) => ({ timestamp: before, type: "session_meta", payload: { id, cwd } });

test("[AGENT-17] codex: by its id, or by its folder if its hooks are off", () => {
  const all = [
    codexMeta("/tmp/w.x"),
    codexLine("user", "old", before),
    codexLine("user", "new", after),
    codexLine("assistant", "a", after),
  ];
  write(`.codex/sessions/2026/01/02/rollout-1-${id}.jsonl`, all);
  write(".codex/sessions/2026/01/02/rollout-2-other.jsonl", [
    codexMeta("/tmp/elsewhere"),
    codexLine("user", "not mine", after),
  ]);
  expect(new Set(readCodexPrompts(of()))).toEqual(new Set(["new"]));
  expect(new Set(readCodexPrompts(of(null)))).toEqual(new Set(["new"]));
});

test("[AGENT-21] codex: an old conversation is found by its id; without one, no folder from before the process is read", () => {
  const other = id.replaceAll("5", "6");
  const file = (day: string, of = other) => `.codex/sessions/${day}/rollout-1-${of}.jsonl`;
  const all = (text: string) => [codexMeta("/tmp/w.x"), codexLine("user", text, after)];
  write(file("2020/12/31"), all("old"));
  for (const day of ["2020/12/30", "2021/01/01", "2026/01/03"]) write(file(day, id), all("another"));
  write(file("2026/01/02", "none"), all("mine"));
  expect(new Set(readCodexPrompts(of(other)))).toEqual(new Set(["old"]));
  expect(new Set(readCodexPrompts(of(null)))).toEqual(new Set(["another", "mine"]));
  rmSync(join(home, ".codex/sessions/2026"), { recursive: true });
  expect(readCodexPrompts(of(null))).toEqual([]);
  // One that was moved is looked for again.
  rmSync(join(home, file("2020/12/31")));
  write(file("2021/01/02"), all("moved"));
  expect(new Set(readCodexPrompts(of(other)))).toEqual(new Set(["moved"]));
});

test("[AGENT-17] gemini: parts of one prompt are one prompt", () => {
  write(".gemini/tmp/w/chats/session-2026-01-02T00-00-11111111.jsonl", [
    { type: "user", timestamp: before, content: [{ text: "old" }] },
    { type: "user", timestamp: after, content: [{ text: "one" }, { text: "two" }] },
  ]);
  expect(readGeminiPrompts(of())).toContain("one\ntwo");
  expect(readGeminiPrompts(of(null))).toEqual([]);
});

test("[AGENT-17] an agent without a transcript has none", () => {
  expect([readClaudePrompts(of()), readCodexPrompts(of()), readGeminiPrompts(of())]).toEqual([[], [], []]);
});
