import { describe, expect, test } from "vitest";
import type { SessionEvent } from "../contract/event.ts";
import { asLaunchId, asPromptId, type Status } from "../contract/ids.ts";
import type { SessionState } from "./session.ts";
import type { SessionFacts } from "./facts.ts";
import { describeExit, statusOf, type StatusOptions, isStuck } from "./status.ts";
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
} from "../supervisor/facts.fixture.ts";

test("[DECIDE-20] only work in silence for longer than the limit is stuck", () => {
  expect(isStuck("working", 0, 1_001, 1_000)).toBe(true);
  expect(isStuck("working", 0, 1_000, 1_000)).toBe(false);
  expect(isStuck("idle", 0, 9_999, 1_000)).toBe(false);
  expect(isStuck("needs_input", 0, 9_999, 1_000)).toBe(false);
  expect(isStuck(null, 0, 9_999, 1_000)).toBe(false);
});

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
  ["chat after a turn that went well", chat(turn, turnEnded), alive({ activity: null }), "idle", null],
  ["a plain shell", [{ ...created, role: "shell" }, ready, started, up], alive({ activity: null }), "running", null],
  ["[DECIDE-15] a command that reports nothing", upNow, alive({ activity: null }), "running", null],
  [
    "[CLI-28] terminal asks something that is known",
    upNow,
    alive({ activity: "needs_input", asks: "Claude Code asks whether to trust this folder" }),
    "needs_input",
    "Claude Code asks whether to trust this folder",
  ],
  ["not observed", upNow, unknown, "unknown", "tmux did not answer"],
  ["gone, not yet concluded", upNow, absent, "unknown", "appears to have exited; verifying"],
  ["dead, not yet recorded", upNow, dead(null), "unknown", "the agent exited; recording how"],
  ["an earlier launch still there", upNow, aliveOther, "starting", "stopping an earlier launch"],
  ["launch failed", [...base, started, failed], absent, "failed", "no such binary"],
  ["launch failed, not observed", [...base, started, failed], unknown, "failed", "no such binary"],
  ["launch failed, asked again", [...base, started, failed, intent({ want: "running" })], absent, "starting", null],
  ["one crash", [...upNow, crash(7)], absent, "starting", "restarting after a crash (exit code 7)"],
  [
    "crash budget used up",
    [...upNow, crash(1), started, crash(1), started, crash(7)],
    absent,
    "failed",
    "crashed 3 times within 60 s, last exit code 7",
  ],
  ["lost", [...upNow, ended("lost")], absent, "starting", "restarting: it was lost to a reboot or tmux crash"],
  [
    "lost with --no-restore",
    [...upNow, ended("lost")],
    absent,
    "failed",
    "lost to a reboot or tmux crash; not restarted because of --no-restore",
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
    "The worktree could not be created: no such base",
  ],
  [
    "[SESSION-9] worktree that could not be created",
    [created, { type: "workspace.failed", reason: "no such base" }],
    absent,
    "failed",
    "The worktree could not be created: no such base",
  ],
  [
    "asked for again after that",
    [created, { type: "workspace.failed", reason: "no such base" }, intent({ want: "running" })],
    absent,
    "starting",
    null,
  ],
  [
    "[DECIDE-33] on its way to the other kind",
    [...upNow, intent({ want: "running", convert: { kind: "chat", fresh: false } })],
    alive(),
    "starting",
    "converting to chat",
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
  ["stopped, its processes still there", [...upNow, intent({ want: "stopped" })], alive(), "stopped", "stopping"],
  ["snoozed", [...base, intent({ want: "snoozed", until: now })], absent, "snoozed", null],
  ["archived", [...base, intent({ want: "archived" })], absent, "archived", null],
  ["killed", [...base, intent({ want: "killed" })], absent, "killed", null],
  [
    "[SESSION-22] killed wins over what is observed",
    [...upNow, intent({ want: "killed" })],
    alive({ activity: "working" }),
    "killed",
    "stopping",
  ],
  ["killed and not observed", [...upNow, intent({ want: "killed" })], unknown, "killed", null],
  ["deleted", [...base, intent({ want: "deleted" })], absent, "killed", "deleted"],
];

describe("[DECIDE-14] status is computed from intent, record and observation", () => {
  test.each(rows)("%s", (_title, events, runtime, status, reason, more) => {
    expect(statusOf(fold(events), runtime, now, { ...options, ...more })).toEqual({ status, reason });
  });

  const badTurn = (stopReason: string, message?: string): SessionEvent[] =>
    chat(turn, { type: "turn.ended", stopReason, promptId: null, ...(message === undefined ? {} : { message }) });
  const cut = (how: "crash" | "lost", ...more: SessionEvent[]): SessionEvent[] => [
    ...upNow,
    { type: "activity.changed", activity: "working", source: "hook" },
    ended(how),
    started,
    up,
    ...more,
  ];

  test.each<[SessionEvent[], string]>([
    [badTurn("error", "model\noverloaded"), "its last turn failed: model overloaded"],
    [badTurn("error"), "its last turn failed"],
    [badTurn("refusal"), "the agent refused to continue"],
    [badTurn("max_tokens"), "its last answer hit the model's token limit"],
    [badTurn("max_turn_requests"), "its last turn hit the agent's request limit"],
    [badTurn("orphaned_at_restart"), "the agent exited during its last turn"],
    [cut("crash"), "the agent crashed during its last turn and was restarted"],
    [cut("lost"), "its last turn was cut by a reboot or tmux crash"],
  ])("[DECIDE-16] a turn that came to nothing needs the user, with the reason (%#)", (events, reason) => {
    const answer = { status: "idle", reason, turnFailed: true };
    expect(statusOf(fold(events), alive(), now, options)).toEqual(answer);
  });

  test("[DECIDE-16] is over with the next turn of a chat", () => {
    const events = [...badTurn("error"), turn, turnEnded];
    expect(statusOf(fold(events), alive(), now, options)).toEqual({ status: "idle", reason: null });
  });

  test("[DECIDE-16] is over once the next prompt waits to be sent", () => {
    const next: SessionEvent = { type: "prompt.admitted", promptId: asPromptId("next"), text: "go on", by: "person" };
    for (const events of [badTurn("error"), cut("crash")]) {
      expect(statusOf(fold([...events, next]), alive(), now, options)).toEqual({ status: "idle", reason: null });
    }
  });

  test("[DECIDE-16] is over with the next turn of a terminal, and was none where the agent was idle", () => {
    const working: SessionEvent = { type: "activity.changed", activity: "working", source: "hook" };
    expect(statusOf(fold(cut("crash", working)), alive(), now, options)).toEqual({ status: "idle", reason: null });
    const idle = [...upNow, ended("crash"), started, up];
    expect(statusOf(fold(idle), alive(), now, options)).toEqual({ status: "idle", reason: null });
    const stopped = [...upNow, working, ended("stopped"), started, up];
    expect(statusOf(fold(stopped), alive(), now, options)).toEqual({ status: "idle", reason: null });
  });

  test("[SESSION-45] an agent that is not ready yet is starting; one that asks has what it asks as its reason", () => {
    const starting = alive({ activity: null, starting: true });
    expect(statusOf(fold(upNow), starting, now, options)).toEqual({ status: "starting", reason: null });
    const asks = alive({ activity: "needs_input", asks: "It asks whether to trust this folder" });
    expect(statusOf(fold(upNow), asks, now, options)).toEqual({
      status: "needs_input",
      reason: "It asks whether to trust this folder",
    });
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
      reason: "part of the answer may be lost; you can force-end the turn",
    });
  });

  test("ended with its pull request merged is done", () => {
    const pullRequest = { url: "https://example.test/1", state: "merged" };
    const session = { ...fold([...upNow, ended("own-exit")]), pullRequest };
    expect(statusOf(session, absent, now, options).status).toBe("done");
  });
});

test("[DECIDE-29] an exit is described by its signal before its code", () => {
  expect(describeExit({ code: 0, signal: "SIGKILL" })).toBe("signal SIGKILL");
  expect(describeExit({ code: 143, signal: null })).toBe("exit code 143");
  expect(describeExit(null)).toBe("without an exit status");
});

test("an agent of another launch never counts as this one's life", () => {
  const session = fold([...upNow, ended("own-exit")]);
  expect(statusOf(session, alive({ launch: asLaunchId("launch-9") }), now, options).status).toBe("exited");
});
