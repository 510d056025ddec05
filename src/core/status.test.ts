import { describe, expect, test } from "vitest";
import type { SessionEvent } from "../protocol/event.ts";
import { asLaunchId } from "../protocol/ids.ts";
import type { SessionState, Status } from "../protocol/session.ts";
import type { SessionFacts } from "./facts.ts";
import { describeExit, statusOf, type StatusOptions } from "./status.ts";
import {
  absent,
  alive,
  aliveOther,
  created,
  dead,
  ended,
  failed,
  fold,
  intent,
  ready,
  started,
  t0,
  trashed,
  unknown,
  up,
} from "./test-facts.ts";

const now = t0 + 10_000;
const options: StatusOptions = { stuckAfterMs: 1_800_000, workspaceThere: true };
const base = [created, ready];
const upNow = [...base, started, up];
const chat = (...more: SessionEvent[]): SessionEvent[] => [{ ...created, kind: "chat" }, ready, started, up, ...more];
const crash = (code: number): SessionEvent => ended("crash", { code, signal: null });
const turn: SessionEvent = { type: "turn.started", promptId: null };
const turnEnded: SessionEvent = { type: "turn.ended", stopReason: "end_turn", promptId: null };
const asked: SessionEvent = { type: "permission.asked", requestId: "r", title: "t", options: [] };

type Row = [
  title: string,
  events: SessionEvent[],
  runtime: SessionFacts["runtime"],
  status: Status,
  reason: string | null,
  more?: Partial<StatusOptions>,
];

const rows: Row[] = [
  ["just created", [created], absent, "starting", null],
  ["its launch not yet answered", [...base, started], absent, "starting", null],
  [
    "its second attempt not yet answered",
    [...base, { ...started, attempt: 2 } as SessionEvent],
    alive(),
    "starting",
    "attempt 2",
  ],
  ["created, and nothing can be seen", [created], unknown, "starting", null],
  ["being launched, and nothing can be seen yet", [...base, started], unknown, "starting", "tmux did not answer"],
  ["terminal at work", upNow, alive({ activity: "working" }), "working", null],
  ["chat turn in flight", chat(turn), alive({ activity: null }), "working", null],
  ["terminal asks", upNow, alive({ activity: "needs_input" }), "needs_input", null],
  ["chat asks in its turn", chat(turn, asked), alive({ activity: "needs_input" }), "needs_input", null],
  ["chat asks, last seen at work", chat(turn, asked), alive({ activity: "working" }), "needs_input", null],
  ["chat was answered, last seen asking", chat(turn), alive({ activity: "needs_input" }), "working", null],
  ["chat after a turn, last seen in it", chat(turn, turnEnded), alive({ activity: "working" }), "idle", null],
  ["terminal idle", upNow, alive({ activity: "idle" }), "idle", null],
  ["chat without a turn", chat(), alive({ activity: null }), "idle", null],
  [
    "chat after a turn that failed",
    chat(turn, { type: "turn.ended", stopReason: "error", promptId: null }),
    alive({ activity: null }),
    "idle",
    "its last turn failed",
  ],
  ["chat after a turn that went well", chat(turn, turnEnded), alive({ activity: null }), "idle", null],
  ["a plain shell", [{ ...created, role: "shell" }, ready, started, up], alive({ activity: null }), "idle", null],
  [
    "terminal of which nothing is known",
    upNow,
    alive({ activity: null }),
    "unknown",
    "alive, but nothing says what the agent is doing",
  ],
  ["not observed", upNow, unknown, "unknown", "tmux did not answer"],
  ["gone, not yet concluded", upNow, absent, "unknown", "it looks gone; not concluded yet"],
  ["dead, not yet recorded", upNow, dead(null), "unknown", "the agent has ended; its end is being recorded"],
  ["an earlier launch still there", upNow, aliveOther, "starting", "an earlier launch is being ended"],
  ["launch failed", [...base, started, failed], absent, "failed", "no such binary"],
  ["launch failed, not observed", [...base, started, failed], unknown, "failed", "no such binary"],
  ["launch failed, asked again", [...base, started, failed, intent({ want: "running" })], absent, "starting", null],
  ["one crash", [...upNow, crash(7)], absent, "starting", "starting again after a crash (exit code 7)"],
  [
    "crash budget used up",
    [...upNow, crash(1), started, crash(1), started, crash(7)],
    absent,
    "failed",
    "crashed 3 times within 60 s, last exit code 7",
  ],
  [
    "lost",
    [...upNow, ended("lost")],
    absent,
    "starting",
    "starting again: it was lost with the machine or its tmux server",
  ],
  [
    "lost with --no-restore",
    [...upNow, ended("lost")],
    absent,
    "failed",
    "lost with the machine or its tmux server, and started with --no-restore",
    { restoreLost: false },
  ],
  [
    "worktree missing",
    [...upNow, ended("stopped")],
    absent,
    "failed",
    `Workspace missing: ${created.workspacePath}`,
    { workspaceThere: false },
  ],
  [
    "worktree never made",
    [created, { type: "workspace.gone", reason: "no such base" }],
    absent,
    "failed",
    "The worktree could not be made: no such base",
  ],
  [
    "worktree missing under a living agent",
    upNow,
    alive({ activity: "working" }),
    "working",
    null,
    { workspaceThere: false },
  ],
  [
    "worktree coming back from the trash",
    [...base, intent({ want: "killed" }), trashed, intent({ want: "running" })],
    absent,
    "starting",
    null,
    { workspaceThere: false },
  ],
  ["own exit", [...upNow, ended("own-exit", { code: 0, signal: null })], absent, "exited", null],
  ["own exit, worktree missing", [...upNow, ended("own-exit")], absent, "exited", null, { workspaceThere: false }],
  ["stopped", [...upNow, ended("stopped"), intent({ want: "stopped" })], absent, "stopped", null],
  [
    "stopped, its processes still there",
    [...upNow, intent({ want: "stopped" })],
    alive(),
    "stopped",
    "its processes are being ended",
  ],
  ["snoozed", [...base, intent({ want: "snoozed", until: now })], absent, "snoozed", null],
  ["archived", [...base, intent({ want: "archived" })], absent, "archived", null],
  ["killed", [...base, intent({ want: "killed" })], absent, "killed", null],
  [
    "[KILL-1] killed wins over what is observed",
    [...upNow, intent({ want: "killed" })],
    alive({ activity: "working" }),
    "killed",
    "its processes are being ended",
  ],
  ["killed and not observed", [...upNow, intent({ want: "killed" })], unknown, "killed", null],
  ["deleted", [...base, intent({ want: "deleted" })], absent, "killed", "deleted"],
];

describe("[CORE-14] status is computed from intent, record and observation", () => {
  test.each(rows)("%s", (_title, events, runtime, status, reason, more) => {
    expect(statusOf(fold(events), runtime, now, { ...options, ...more })).toEqual({ status, reason });
  });

  test("working in silence for longer than the limit is stuck", () => {
    const session = { ...fold(upNow), lastActivityAt: now - 1_800_001 };
    expect(statusOf(session, alive({ activity: "working" }), now, options).status).toBe("stuck");
    expect(statusOf(session, alive({ activity: "working" }), now - 1, options).status).toBe("working");
    expect(statusOf(session, alive({ activity: "idle" }), now, options).status).toBe("idle");
  });

  test("an answer that may be lost is said", () => {
    const session = fold(chat(turn));
    const lost: SessionState = {
      ...session,
      turn: { turn: "open", prompt: null, startedAt: now, answerMayBeLost: true },
    };
    expect(statusOf(lost, alive(), now, options)).toEqual({
      status: "working",
      reason: "the answer may be lost; the turn can be ended by force",
    });
  });

  test("ended with its pull request merged is done", () => {
    const pullRequest = { url: "https://example.test/1", state: "merged" };
    const session = { ...fold([...upNow, ended("own-exit")]), pullRequest };
    expect(statusOf(session, absent, now, options).status).toBe("done");
  });
});

test("[PROC-12] an exit is described by its signal before its code", () => {
  expect(describeExit({ code: 0, signal: "SIGKILL" })).toBe("signal SIGKILL");
  expect(describeExit({ code: 143, signal: null })).toBe("exit code 143");
  expect(describeExit(null)).toBe("without an exit status");
});

test("an agent of another launch never counts as this one's life", () => {
  const session = fold([...upNow, ended("own-exit")]);
  expect(statusOf(session, alive({ launch: asLaunchId("launch-9") }), now, options).status).toBe("exited");
});
