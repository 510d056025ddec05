import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { identify } from "../../base/pid.ts";
import type { TerminalAgent } from "../../ports/agents.ts";
import { asLaunchId, asSessionId } from "../../protocol/ids.ts";
import { LaunchFiles, type LaunchNote } from "./launch-files.ts";
import type { Pane } from "./panes.ts";
import { LaunchWatch, Watches } from "./watch.ts";
import type { SessionState } from "../../protocol/session.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "hf-watch-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const session = asSessionId("t-1");
const launch = asLaunchId("l-1");
const agent = {
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
  files.write(session, whole, { workspace: directory, umask: null, env: {}, argv: ["x"] }, []);
  const watch = new LaunchWatch(launch, agent, files, session);
  watch.process(identify(process.pid)!);
  return watch;
}

test.each([{ resumed: true }, { promptTaken: true }])(
  "[AGENT-12] a launch with %o is not idle before what it began with shows",
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

test("[AGENT-12] a launch without either is idle at once, one that was seen working is, and so is one that began long ago", () => {
  const { startedAt } = watchOf({}).process(identify(process.pid)!);
  expect(watchOf({}).activity(pane, startedAt + 1000)).toMatchObject({ activity: "idle" });
  const worked = watchOf({ promptTaken: true });
  worked.sawScreen(pane, "thinking", startedAt + 1000);
  expect(worked.activity(pane, startedAt + 1000)).toMatchObject({ activity: "working" });
  worked.sawScreen(pane, "", startedAt + 1000);
  expect(worked.activity(pane, startedAt + 1000)).toMatchObject({ activity: "idle" });
  expect(watchOf({ resumed: true }).activity(pane, startedAt + 61_000)).toMatchObject({ activity: "idle" });
});

test("[TMUX-10] a launch that is on record since long ago is what the record says, whatever its note says", () => {
  const files = new LaunchFiles(directory);
  const note = { launch, agentSessionId: "noted", promptTaken: true };
  files.write(session, note, { workspace: directory, umask: null, env: {}, argv: ["x"] }, []);
  const run = { run: "up", launch, at: Date.now() - 61_000 } as const;
  const state = { id: session, agent: "x", run, agentSessionId: "recorded" } as Partial<SessionState> as SessionState;
  const agents = { get: () => null, list: () => [] };
  expect(new Watches(agents, files).of(state, launch).agentSessionId).toBe("recorded");
  const young = { ...state, run: { ...run, agent: null, at: Date.now() } };
  expect(new Watches(agents, files).of(young, launch).agentSessionId).toBe("noted");
});
