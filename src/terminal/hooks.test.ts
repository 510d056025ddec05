import { appendFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { HookRule } from "../ports/agents.ts";
import { HookReader } from "./hooks.ts";

const rules: HookRule[] = [
  { event: "SessionStart", activity: "idle", idField: "session_id" },
  { event: "UserPromptSubmit", activity: "working", idField: "payload.session_id", promptField: "payload.prompt" },
  { event: "PermissionRequest", activity: "needs_input" },
  { event: "PreCompact", activity: null },
  { event: "Stop", activity: "idle", messageField: "payload.words" },
];

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "hooks-"));
  path = join(directory, "hooks.jsonl");
});
afterEach(() => rmSync(directory, { recursive: true }));

const say = (...lines: object[]): void =>
  appendFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));

test("[TERMINAL-20] hook lines give activity, conversation id and prompts, read on from where the last look ended", () => {
  const reader = new HookReader(path, rules);
  expect(reader.read()).toBe(false);
  say({ event: "SessionStart", session_id: "a" });
  expect(reader.read()).toBe(true);
  expect(reader.state).toMatchObject({ activity: { activity: "idle" }, agentSessionId: "a" });
  const mark = reader.promptMark;
  say(
    { event: "UserPromptSubmit", payload: { session_id: "b", prompt: "do it" } },
    { event: "Unknown" },
    { event: "PreCompact" },
  );
  reader.read();
  expect(reader.state).toMatchObject({ activity: { activity: "working" }, agentSessionId: "b" });
  expect(reader.promptsSince(mark)).toEqual(["do it"]);
  expect(reader.read()).toBe(false);
});

test("[API-52] hook lines tell what the agent said last, by its end", () => {
  const reader = new HookReader(path, rules);
  say(
    { event: "Stop", payload: { words: "older" } },
    { event: "Stop", payload: { words: `${"x".repeat(5_000)} newer` } },
  );
  reader.read();
  expect(reader.state.lastMessage).toHaveLength(1_000);
  expect(reader.state.lastMessage).toMatch(/x newer$/);
  say({ event: "Stop", payload: {} }, { event: "Stop" });
  reader.read();
  expect(reader.state.lastMessage).toMatch(/x newer$/);
});

test("[TERMINAL-20] half a line counts once it is whole, and lines that are not objects are passed over", () => {
  const reader = new HookReader(path, rules);
  writeFileSync(path, 'nonsense\n[1]\nnull\n{"event":"Permission');
  reader.read();
  expect(reader.state.activity).toBeNull();
  appendFileSync(path, 'Request"}\n');
  reader.read();
  expect(reader.state.activity?.activity).toBe("needs_input");
});

test("[TERMINAL-20] a truncated file is read again from its start", () => {
  const reader = new HookReader(path, rules);
  say({ event: "UserPromptSubmit", payload: { prompt: "a long first line" } });
  reader.read();
  truncateSync(path);
  say({ event: "SessionStart" });
  reader.read();
  expect(reader.state.activity?.activity).toBe("idle");
});
