import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { IntentEvent, SessionEvent, StoredEvent } from "../contract/event.ts";
import { asLaunchId, asProjectId, asPromptId, asSessionId, asTrashId, type Want } from "../contract/ids.ts";
import { reduce } from "./reduce.ts";
import type { SessionState } from "./session.ts";

const launch = asLaunchId("launch-1");
const p1 = asPromptId("p-1");
const p2 = asPromptId("p-2");
const agent = { bootId: "boot", pid: 7, startTime: "70" };
const created: Extract<SessionEvent, { type: "session.created" }> = {
  type: "session.created",
  id: asSessionId("ma-1"),
  project: asProjectId("my-app"),
  kind: "terminal",
  role: "worker",
  agent: "demo",
  title: "a title",
  issue: "12",
  branch: "ma-1",
  branchCreated: false,
  base: "",
  workspacePath: "/worktrees/ma-1",
  by: "person",
};

const stored = (event: SessionEvent, seq: number): StoredEvent => ({ ...event, seq, at: seq * 1_000 });
const fold = (...events: SessionEvent[]): SessionState =>
  [created, ...events].reduce<SessionState | null>(
    (state, event, index) => reduce(state, stored(event, index + 1)),
    null,
  )!;

const started = (how: "fresh" | "resume" = "fresh"): SessionEvent => ({
  type: "launch.started",
  launch,
  how,
  attempt: 1,
});
const up: SessionEvent = { type: "launch.up", launch, agent };
const failed: SessionEvent = { type: "launch.failed", launch, reason: "r", lastLines: ["l"] };
const crash: SessionEvent = { type: "run.ended", launch, how: "crash", exit: null, uptimeMs: 1, lastLines: [] };
const admitted = (promptId: typeof p1): SessionEvent => ({
  type: "prompt.admitted",
  promptId,
  text: "t",
  by: "person",
});
const sent: SessionEvent = { type: "prompt.sent", promptId: p1, seenBy: "screen" };
const intent = (want: Want, by = "person"): IntentEvent => ({ type: "session.intent", want, by }) as IntentEvent;
const running = intent({ want: "running" });

test("[DECIDE-22] a session begins as its first event says, wanted running, with nothing made yet", () => {
  const { type: _type, by, ...described } = created;
  expect(fold()).toEqual({
    ...described,
    workspace: { at: "planned" },
    intent: { want: "running", by, at: 1_000, seq: 1 },
    run: { run: "none" },
    turn: { turn: "none" },
    queue: [],
    permissions: [],
    picks: { config: {} },
    agentSessionId: null,
    conversationSince: null,
    prompted: false,
    activity: null,
    crashes: [],
    resumeFailures: 0,
    pullRequest: null,
    createdAt: 1_000,
    lastActivityAt: 1_000,
    seq: 1,
  } satisfies SessionState);
});

describe("[DECIDE-22] each event changes what it names and nothing else", () => {
  type Row = [title: string, before: SessionEvent[], event: SessionEvent, change: Partial<SessionState>];
  const rows: Row[] = [
    [
      "an intent, with who and when",
      [],
      intent({ want: "snoozed", until: 9 }, "idle-stop"),
      { intent: { want: "snoozed", until: 9, by: "idle-stop", at: 2_000, seq: 2 } },
    ],
    [
      "running again: a whole crash budget",
      [started(), crash],
      running,
      { intent: { want: "running", by: "person", at: 4_000, seq: 4 }, crashes: [], resumeFailures: 0 },
    ],
    [
      "any other intent leaves the crashes",
      [started(), crash],
      intent({ want: "stopped" }),
      { intent: { want: "stopped", by: "person", at: 4_000, seq: 4 } },
    ],
    ["a title", [], { type: "session.renamed", title: "new", by: "person" }, { title: "new" }],
    [
      "a worktree made",
      [],
      { type: "workspace.ready", path: "/w", branch: "b", branchCreated: true, base: "c0" },
      { workspace: { at: "ready" }, workspacePath: "/w", branch: "b", branchCreated: true, base: "c0" },
    ],
    [
      "a worktree in the trash",
      [],
      { type: "workspace.trashed", trash: asTrashId("t"), ref: null, uncommitted: 1, unpushed: 2 },
      { workspace: { at: "trashed", trash: asTrashId("t") } },
    ],
    [
      "a worktree restored on another branch",
      [],
      { type: "workspace.restored", trash: asTrashId("t"), path: "/w", branch: "b" },
      { workspace: { at: "ready" }, workspacePath: "/w", branch: "b" },
    ],
    [
      "a worktree restored without a branch",
      [],
      { type: "workspace.restored", trash: asTrashId("t"), path: "/w", branch: null },
      { workspace: { at: "ready" }, workspacePath: "/w" },
    ],
    [
      "a worktree that could not be created",
      [],
      { type: "workspace.failed", reason: "r" },
      { workspace: { at: "planned", failed: "r" } },
    ],
    [
      "it is asked for again",
      [{ type: "workspace.failed", reason: "r" }],
      running,
      { workspace: { at: "planned" }, intent: { want: "running", by: "person", at: 3_000, seq: 3 } },
    ],
    [
      "one that was never made is asked for again",
      [{ type: "workspace.gone", reason: "r", neverMade: true }],
      running,
      { workspace: { at: "planned" }, intent: { want: "running", by: "person", at: 3_000, seq: 3 } },
    ],
    [
      "a conversion that was asked for is done",
      [intent({ want: "running", convert: { kind: "chat", fresh: false } })],
      { type: "session.converted", kind: "chat", by: "person" },
      { kind: "chat", intent: { want: "running", by: "person", at: 2_000, seq: 3 } },
    ],
    ["a worktree gone", [], { type: "workspace.gone", reason: "r" }, { workspace: { at: "gone", reason: "r" } }],
    ["a launch begun", [], started(), { run: { run: "launching", launch, attempt: 1, how: "fresh", at: 2_000 } }],
    ["a launch up", [started()], up, { run: { run: "up", launch, at: 3_000, agent }, lastActivityAt: 3_000 }],
    [
      "a launch adopted is no activity",
      [started()],
      { type: "launch.adopted", launch, agent },
      { run: { run: "up", launch, at: 3_000, agent } },
    ],
    [
      "a launch failed",
      [started()],
      failed,
      { run: { run: "failed", launch, reason: "r", at: 3_000, lastLines: ["l"], seq: 3 } },
    ],
    [
      "a resume failed",
      [started("resume")],
      failed,
      { run: { run: "failed", launch, reason: "r", at: 3_000, lastLines: ["l"], seq: 3 }, resumeFailures: 1 },
    ],
    [
      "a crash",
      [started(), up],
      crash,
      {
        run: { run: "ended", launch, how: "crash", exit: null, at: 4_000, uptimeMs: 1, lastLines: [], seq: 4 },
        crashes: [4_000],
        lastActivityAt: 4_000,
      },
    ],
    [
      "an own exit is no crash",
      [started(), up],
      { ...crash, how: "own-exit" },
      {
        run: { run: "ended", launch, how: "own-exit", exit: null, at: 4_000, uptimeMs: 1, lastLines: [], seq: 4 },
        lastActivityAt: 4_000,
      },
    ],
    ["a conversation", [], { type: "conversation.pinned", agentSessionId: "c" }, { agentSessionId: "c" }],
    [
      "[DECIDE-21] another conversation id is followed",
      [{ type: "conversation.pinned", agentSessionId: "c" }],
      { type: "conversation.pinned", agentSessionId: "d" },
      { agentSessionId: "d" },
    ],
    [
      "a context reset",
      [{ type: "conversation.pinned", agentSessionId: "c" }, admitted(p1), sent],
      { type: "context.reset", reason: "r", previous: "c" },
      { agentSessionId: null, prompted: false, resumeFailures: 0 },
    ],
    [
      "a prompt admitted",
      [],
      admitted(p1),
      { queue: [{ promptId: p1, admittedAt: 2_000, admittedSeq: 2, state: "queued" }], lastActivityAt: 2_000 },
    ],
    [
      "a prompt being sent",
      [admitted(p1), admitted(p2)],
      { type: "prompt.sending", promptId: p1, launch },
      {
        queue: [
          { promptId: p1, admittedAt: 2_000, admittedSeq: 2, state: "sending" },
          { promptId: p2, admittedAt: 3_000, admittedSeq: 3, state: "queued" },
        ],
      },
    ],
    ["a prompt in doubt", [admitted(p1)], { type: "prompt.doubtful", promptId: p1, reason: "r" }, { queue: [] }],
    [
      "a prompt back in the queue, at its place",
      [admitted(p1), { type: "prompt.sending", promptId: p1, launch }],
      { type: "prompt.requeued", promptId: p1, reason: "r" },
      { queue: [{ promptId: p1, admittedAt: 2_000, admittedSeq: 2, state: "queued" }] },
    ],
    ["a prompt sent", [admitted(p1)], sent, { queue: [], prompted: true, lastActivityAt: 3_000 }],
    ["a prompt withdrawn", [admitted(p1)], { type: "prompt.withdrawn", promptId: p1, by: "person" }, { queue: [] }],
    [
      "a turn",
      [],
      { type: "turn.started", promptId: p1 },
      { turn: { turn: "open", prompt: p1, startedAt: 2_000, answerMayBeLost: false }, lastActivityAt: 2_000 },
    ],
    [
      "its end",
      [{ type: "turn.started", promptId: p1 }],
      { type: "turn.ended", stopReason: "end_turn" },
      { turn: { turn: "ended", stopReason: "end_turn", at: 3_000 }, lastActivityAt: 3_000 },
    ],
    [
      "activity",
      [],
      { type: "activity.changed", activity: "working", source: "hook" },
      { activity: { activity: "working", source: "hook", at: 2_000 }, lastActivityAt: 2_000 },
    ],
    ["output of a set-up command", [], { type: "workspace.output", text: "x" }, {}],
    ["a notice", [], { type: "notice", level: "info", text: "x" }, {}],
  ];
  test.each(rows)("%s", (_title, before, event, change) => {
    const state = fold(...before);
    expect(fold(...before, event)).toEqual({ ...state, seq: state.seq + 1, ...change });
  });
});

describe("counting", () => {
  test("an end forgets what the agent was doing", () => {
    expect(
      fold(started(), up, { type: "activity.changed", activity: "working", source: "hook" }, crash).activity,
    ).toBeNull();
  });

  test("[DECIDE-28] failed resumes count in a row, and an agent that comes up ends the row", () => {
    const twice = fold(started("resume"), failed, started("resume"), failed);
    expect(twice.resumeFailures).toBe(2);
    expect(fold(started("resume"), failed, started("resume"), up).resumeFailures).toBe(0);
    expect(fold(started("resume"), failed, started(), failed).resumeFailures).toBe(1);
  });

  test("only the latest ten crashes are kept", () => {
    const state = fold(...Array.from({ length: 12 }, () => crash));
    expect(state.crashes).toEqual(Array.from({ length: 10 }, (_, index) => (index + 4) * 1_000));
  });
});

describe("[DECIDE-22] the fold is strict about order", () => {
  test("a gap, a repetition and a second creation are bugs", () => {
    const state = fold();
    expect(() => reduce(state, stored(running, 3))).toThrow("event 3 of ma-1 follows 1");
    expect(() => reduce(state, stored(running, 1))).toThrow("event 1 of ma-1 follows 1");
    expect(() => reduce(state, stored(created, 2))).toThrow("session ma-1 was created twice");
    expect(() => reduce(null, stored(running, 1))).toThrow("event session.intent before the session was created");
  });

  test("an event of a later version moves the sequence and nothing else", () => {
    const state = fold();
    const later = { type: "later.thing", seq: 2, at: 5, what: 1 } as unknown as StoredEvent;
    expect(reduce(state, later)).toEqual({ ...state, seq: 2 });
  });
});

test("[DECIDE-22] a fold can be cut anywhere and stored in between, and never changes what it was given", () => {
  const events = fc.constantFrom(running, started(), started("resume"), up, failed, crash, admitted(p1), sent);
  fc.assert(
    fc.property(fc.array(events), fc.nat(), (list, at) => {
      const whole = fold(...list);
      const cut = at % (list.length + 1);
      const kept = fold(...list.slice(0, cut));
      const text = JSON.stringify(kept);
      const resumed = list
        .slice(cut)
        .reduce<SessionState>((state, event, index) => reduce(state, stored(event, cut + index + 2)), JSON.parse(text));
      expect(resumed).toEqual(whole);
      expect(JSON.stringify(kept)).toBe(text);
    }),
    { numRuns: 200 },
  );
});
