import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { spawn } from "node:child_process";
import { until } from "../../test/harness/until.ts";
import { claude } from "../agents/claude.ts";
import { codex } from "../agents/codex.ts";
import { identify, readStat } from "../base/pid.ts";
import type { TerminalAgent } from "../ports/agents.ts";
import { asLaunchId, asSessionId } from "../contract/ids.ts";
import { cpuTimeOf } from "./activity.ts";
import { LaunchFiles, type LaunchNote } from "./launch-files.ts";
import type { Pane } from "./panes.ts";
import { LaunchWatch, Watches } from "./watch.ts";
import type { SessionState } from "../model/session.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "hf-watch-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const session = asSessionId("t-1");
const launch = asLaunchId("l-1");
const agent = {
  env: {},
  hookRules: [],
  screenRules: [
    { where: "screen", pattern: /thinking/, activity: "working" },
    { where: "title", pattern: /^Ready/, activity: "idle" },
  ],
  begun: /^> \S/m,
} as Partial<TerminalAgent> as TerminalAgent;
const pane = { title: "Ready", changeKey: "1", activeAt: 0 } as Partial<Pane> as Pane;

function watchOf(note: Partial<LaunchNote>): LaunchWatch {
  const files = new LaunchFiles(directory);
  const whole = { launch, agentSessionId: null, promptTaken: false, ...note };
  files.write(session, whole, { workspace: directory, umask: null, cgroup: null, env: {}, argv: ["x"] });
  const watch = new LaunchWatch(launch, agent, files, session);
  watch.process(identify(process.pid)!);
  return watch;
}

test.each([{ resumed: true }, { promptTaken: true }])(
  "[AGENT-15] a launch with %o is not idle before its first prompt or conversation shows",
  (note) => {
    const now = watchOf({}).process(identify(process.pid)!).startedAt + 1000;
    const watch = watchOf(note);
    expect(watch.activity(pane, now)).toBeNull();
    watch.sawScreen(pane, "welcome", now);
    expect(watch.activity(pane, now)).toBeNull();
    watch.sawScreen(pane, "> hello\nanswer", now);
    expect(watch.activity(pane, now)).toMatchObject({ activity: "idle", source: "title" });
    // Cleared later: that it has begun is not forgotten.
    watch.sawScreen(pane, "welcome", now);
    expect(watch.activity(pane, now)).toMatchObject({ activity: "idle" });
  },
);

test("[AGENT-15] a launch without either is idle immediately, as is one that worked, or started long ago", () => {
  const { startedAt } = watchOf({}).process(identify(process.pid)!);
  expect(watchOf({}).activity(pane, startedAt + 1000)).toMatchObject({ activity: "idle" });
  const worked = watchOf({ promptTaken: true });
  worked.sawScreen(pane, "thinking", startedAt + 1000);
  expect(worked.activity(pane, startedAt + 1000)).toMatchObject({ activity: "working" });
  worked.sawScreen(pane, "", startedAt + 1000);
  expect(worked.activity(pane, startedAt + 1000)).toMatchObject({ activity: "idle" });
  expect(watchOf({ resumed: true }).activity(pane, startedAt + 61_000)).toMatchObject({ activity: "idle" });
});

const known = {
  env: {},
  hookRules: [],
  screenRules: [
    { where: "screen", pattern: /Trust this\?/, activity: "needs_input", reason: "It asks for trust" },
    { where: "title", pattern: /^Ready/, activity: "idle" },
  ],
  input: { line: /^>([^\n]*)$/gm, empty: /^\s*$/, clear: "C-u" },
} as Partial<TerminalAgent> as TerminalAgent;

async function asleep(run: (watch: LaunchWatch, from: number) => void): Promise<void> {
  const child = spawn("sleep", ["100"]);
  try {
    await until("it to sleep", () => readStat(child.pid!)?.state === "S");
    const files = new LaunchFiles(directory);
    const watch = new LaunchWatch(launch, known, files, session);
    const { startedAt } = watch.process(identify(child.pid!)!);
    run(watch, startedAt + 1000);
  } finally {
    child.kill("SIGKILL");
  }
}

test("[TERMINAL-34] a title that shows idle is early: the agent is starting until its input line shows", () =>
  asleep((watch, from) => {
    watch.sawScreen(pane, "", from);
    expect([watch.activity(pane, from), watch.isStarting(pane, from)]).toEqual([null, true]);
    watch.sawScreen(pane, "welcome\n> ", from + 1000);
    expect(watch.activity(pane, from + 1000)).toMatchObject({ activity: "idle" });
    expect([watch.isStarting(pane, from + 1000), watch.inputStands]).toEqual([false, false]);
    watch.sawScreen(pane, "welcome\n> ", from + 1100);
    expect(watch.inputStands).toBe(true);
  }));

test("[TERMINAL-34] a dialog counts although the title shows idle, but not above an input line", () =>
  asleep((watch, from) => {
    watch.sawScreen(pane, "Trust this?\n1. yes", from);
    expect(watch.activity(pane, from)).toMatchObject({ activity: "needs_input", reason: "It asks for trust" });
    watch.sawScreen(pane, "I asked: Trust this?\n> ", from + 1000);
    expect(watch.activity(pane, from + 1000)).toMatchObject({ activity: "idle" });
  }));

const idle = { activity: "idle" };
const rule = "─".repeat(40);
test.each<[string, TerminalAgent, string, string, object]>([
  ["claude", claude.terminal!, "✳ w", `● Do you want to proceed with this plan?\n${rule}\n❯ say: one\n${rule}\n`, idle],
  ["codex", codex.terminal!, "w | w", "› 1. first\n\n• Trust this folder?\n\n› say: one\n\n  gpt-5.4 · /w\n", idle],
  [
    "codex",
    codex.terminal!,
    "w | w",
    "• done\n\n  Approaching rate limits\n› 1. Switch\n  2. Keep\n\n  Press enter to confirm\n",
    { activity: "needs_input", reason: "Codex has reached a usage limit, or is close to one" },
  ],
])(
  "[TERMINAL-34] %s: text above an input line with text is no dialog, a list is one (%#)",
  (_, own, title, screen, seen) => {
    const watch = new LaunchWatch(launch, { ...own, readStatus: () => null }, new LaunchFiles(directory), session);
    const { startedAt } = watch.process(identify(process.pid)!);
    watch.sawScreen(pane, screen, startedAt + 1000);
    expect(watch.activity({ ...pane, title }, startedAt + 1000)).toMatchObject(seen);
  },
);

test("[TERMINAL-34] a screen at rest for a minute without an input line asks something that is not known", () =>
  asleep((watch, from) => {
    watch.sawScreen(pane, "What is\nyour   name?", from);
    expect(watch.activity(pane, from + 59_000)).toBeNull();
    expect(watch.activity(pane, from + 60_000)).toMatchObject({
      activity: "needs_input",
      reason: "It shows something Holdfast does not recognize: What is / your name?",
    });
    watch.sawScreen(pane, "Loading 51 %", from + 61_000);
    expect(watch.activity(pane, from + 61_000)).toBeNull();
  }));

test("[TERMINAL-34] a blank screen asks nothing, and neither does a program that has not begun to use its terminal", () =>
  asleep((watch, from) => {
    watch.sawScreen(pane, "\n  \n", from);
    expect([watch.wantsTerminal(from + 90_000), watch.activity(pane, from + 90_000)]).toEqual([false, null]);
    watch.sawScreen(pane, "Loading", from);
    expect([watch.activity(pane, from), watch.wantsTerminal(from + 60_000)]).toEqual([null, true]);
    watch.sawTerminal(true, from + 60_000);
    expect([watch.activity(pane, from + 60_000), watch.wantsTerminal(from + 61_000)]).toEqual([null, false]);
    watch.sawTerminal(false, from + 70_000);
    expect(watch.activity(pane, from + 70_000)).toMatchObject({ activity: "needs_input" });
  }));

test("[TERMINAL-34] a start whose processes compute asks nothing", async () => {
  const child = spawn("sh", ["-c", "sh -c 'while :; do :; done'; :"], { detached: true, stdio: "ignore" });
  const pid = child.pid!;
  try {
    await until("it to wait for its child", () => readStat(pid)?.state === "S" && cpuTimeOf(pid) > 0);
    const watch = new LaunchWatch(launch, known, new LaunchFiles(directory), session);
    const from = watch.process(identify(pid)!).startedAt + 1000;
    watch.sawScreen(pane, "Loading", from);
    expect(watch.activity(pane, from)).toBeNull();
    const before = cpuTimeOf(pid);
    await until("it to compute", () => cpuTimeOf(pid) > before + 50);
    expect(watch.activity(pane, from + 60_000)).toBeNull();
  } finally {
    process.kill(-pid, "SIGKILL");
  }
});

test("[TERMINAL-19] for a launch that has long been on record, the record counts and not its note", () => {
  const files = new LaunchFiles(directory);
  const note = { launch, agentSessionId: "noted", promptTaken: true };
  files.write(session, note, { workspace: directory, umask: null, cgroup: null, env: {}, argv: ["x"] });
  const run = { run: "up", launch, at: Date.now() - 61_000 } as const;
  const state = { id: session, agent: "x", run, agentSessionId: "recorded" } as Partial<SessionState> as SessionState;
  const agents = { of: () => null, list: () => [] };
  expect(new Watches(agents, files).of(state, launch).agentSessionId).toBe("recorded");
  const young = { ...state, run: { ...run, agent: null, at: Date.now() } };
  expect(new Watches(agents, files).of(young, launch).agentSessionId).toBe("noted");
});
