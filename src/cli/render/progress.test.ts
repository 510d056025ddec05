import { expect, test } from "vitest";
import type { EventJson } from "../../contract/stream.ts";
import { leftLines, Progress } from "../commands/spawn/progress.ts";

type Told = { type: string } & Record<string, unknown>;

function told(events: readonly Told[], among = false): string[] {
  const progress = new Progress({ id: "ma-1", agent: "claude", among });
  return events.flatMap((event, at) =>
    progress.take({ seq: at + 1, at: "2026-01-01T00:00:00.000Z", ...event } as unknown as EventJson),
  );
}
const output = (text: string): Told => ({ type: "workspace.output", text });

test("[CLI-24] a spawn's steps are printed once each, postCreate with its output", () => {
  const lines = told([
    { type: "session.created" },
    { type: "prompt.admitted" },
    output("Submodule lib is filled.\n$ npm ci\nadd"),
    output("ed 3 packages\n\n$ make\n"),
    output("no line end"),
    { type: "workspace.ready" },
    { type: "launch.started" },
    { type: "launch.up" },
  ]);
  expect(lines).toEqual([
    "ma-1: creating the worktree",
    "  Submodule lib is filled.",
    "ma-1: running postCreate",
    "  $ npm ci",
    "  added 3 packages",
    "",
    "  $ make",
    "  no line end",
    "ma-1: starting claude",
  ]);
});

test("[CLI-24] a restore's steps; an agent that is started once more", () => {
  const lines = told([
    { type: "session.intent", want: { want: "running" } },
    { type: "workspace.restored" },
    { type: "launch.started" },
    { type: "run.ended" },
    { type: "launch.started" },
    { type: "session.intent", want: { want: "killed" } },
  ]);
  expect(lines).toEqual([
    "ma-1: restoring",
    "ma-1: worktree restored from the trash",
    "ma-1: starting claude",
    "ma-1: starting claude again",
  ]);
});

test("[CLI-24] with several sessions each line names its session", () => {
  expect(told([{ type: "session.created" }, output("$ make\nbuilt\n")], true)).toEqual([
    "ma-1: creating the worktree",
    "ma-1: running postCreate",
    "ma-1:  $ make",
    "ma-1:  built",
  ]);
});

test("[CLI-8] command output cannot move the cursor or add colors; a progress bar prints its last state", () => {
  const bar = " 10%\r 50%\r100%\r\n";
  expect(told([output(`${bar}\u001b[32mgreen\u001b[0m\u001b[2K\n\u0007bell\u009b\n`)])).toEqual([
    "  100%",
    "  green",
    "   bell",
  ]);
});

test("[CLI-38] Ctrl-C prints which work continues and which never started", () => {
  expect(leftLines({ verb: "spawn", sessions: ["ma-1"], unnamed: 0, unrequested: 0 })).toEqual([
    "Stopped waiting. ma-1 is still being created.",
    "  Check: holdfast session show ma-1",
    "  Kill:  holdfast session kill ma-1",
  ]);
  expect(leftLines({ verb: "restore", sessions: ["ma-1"], unnamed: 0, unrequested: 0 }).at(-1)).toBe(
    "  Stop:  holdfast session stop ma-1",
  );
  expect(leftLines({ verb: "spawn", sessions: [], unnamed: 2, unrequested: 3 })).toEqual([
    "Stopped waiting. The spawn continues in the daemon. Check with: holdfast session ls",
    "3 remaining issues were not started.",
  ]);
});
