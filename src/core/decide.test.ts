import { describe, expect, test } from "vitest";
import type { SessionEvent } from "../protocol/event.ts";
import { asPromptId } from "../protocol/ids.ts";
import type { ExitStatus } from "../protocol/session.ts";
import { decide } from "./decide.ts";
import type { Action, SessionFacts } from "./facts.ts";
import {
  absent,
  alive,
  aliveOther,
  created,
  dead,
  ended,
  factsOf,
  failed,
  fold,
  intent,
  prompt,
  ready,
  sending,
  sent,
  started,
  t0,
  talked,
  trashed,
  unknown,
  up,
} from "./test-facts.ts";

const now = t0 + 100_000;
type Row = [
  title: string,
  events: (SessionEvent & { at?: number })[],
  facts: Partial<Omit<SessionFacts, "session">>,
  actions: Action[],
];

const stop = (why: Extract<Action, { do: "stop" }>["why"]): Action => ({ do: "stop", why, force: false });
const recordEnd = (how: Extract<Action, { do: "record-end" }>["how"]): Action => ({
  do: "record-end",
  how,
  exit: null,
  lastLines: [],
});
const retry: Action = { do: "wait", until: now + 2_000, why: "could not be observed: tmux did not answer" };
const settleTurn: Action = { do: "settle-turn", as: "orphaned_at_restart" };
const settle = (id: string): Action => ({ do: "settle-prompt", prompt: asPromptId(id) });
const deliver = (id: string): Action => ({ do: "deliver", prompt: asPromptId(id) });
const fresh = (attempt = 1): Action => ({ do: "launch", how: "fresh", attempt });
const resume = (attempt = 1): Action => ({ do: "launch", how: "resume", attempt });
const lookAgain: Action = {
  do: "wait",
  until: now + 500,
  why: "most sessions look dead at once; looking again before concluding",
};
const turn: SessionEvent = { type: "turn.started", promptId: null };
const chat: SessionEvent = { ...created, kind: "chat" };
const base = [created, ready];
const upNow = [...base, started, up];
const killed = intent({ want: "killed" });
const deleted = intent({ want: "deleted" });
const stopped = intent({ want: "stopped" });
const again = intent({ want: "running" });

function check(rows: Row[]): void {
  test.each(rows)("%s", (_title, events, facts, actions) => {
    expect(decide(factsOf(fold(events), facts), now)).toEqual(actions);
  });
}

describe("[CORE-1] wanted gone: stopped, recorded, settled, cleared away, never launched", () => {
  check([
    ["killed and alive: stop", [...upNow, killed], { runtime: alive() }, [stop("killed")]],
    [
      "[KILL-2] killed while it was being launched: stop",
      [...base, started, killed],
      { runtime: alive() },
      [stop("killed")],
    ],
    ["deleted and alive: stop", [...upNow, deleted], { runtime: alive() }, [stop("deleted")]],
    [
      "killed and the agent dead: its pane is still stopped",
      [...upNow, killed],
      { runtime: dead(null) },
      [stop("killed")],
    ],
    [
      "killed, end already on record, tree still there: stop again",
      [...upNow, ended("stopped"), killed],
      { runtime: alive() },
      [stop("killed")],
    ],
    ["killed and another launch alive: stop", [...upNow, killed], { runtime: aliveOther }, [stop("killed")]],
    ["killed and absent: the end is recorded", [...upNow, killed], {}, [recordEnd("stopped")]],
    [
      "killed and absent in a turn: the end, then the turn",
      [chat, ready, started, up, turn, killed],
      {},
      [recordEnd("stopped"), settleTurn],
    ],
    [
      "killed, ended, turn still open: the turn",
      [chat, ready, started, up, turn, ended("stopped"), killed],
      {},
      [settleTurn],
    ],
    [
      "killed with an interrupted prompt: settled",
      [...upNow, prompt("p-1"), sending("p-1"), ended("stopped"), killed],
      {},
      [settle("p-1")],
    ],
    ["killed and ended: the worktree goes", [...upNow, ended("stopped"), killed], {}, [{ do: "remove-workspace" }]],
    [
      "[KILL-2] killed and everything already gone: its record is still finished",
      [...upNow, ended("stopped"), killed],
      { workspace: absent },
      [{ do: "remove-workspace" }],
    ],
    [
      "[SPAWN-1] killed in the middle of a spawn: what was made is undone",
      [created, killed],
      {},
      [{ do: "remove-workspace" }],
    ],
    ["deleted and ended: the worktree goes", [...upNow, ended("crash"), deleted], {}, [{ do: "remove-workspace" }]],
    ["[KILL-1] killed and cleared away: nothing, for ever", [...upNow, ended("stopped"), killed, trashed], {}, []],
    ["deleted and cleared away: nothing, for ever", [...upNow, ended("stopped"), deleted, trashed], {}, []],
    [
      "[KILL-1] killed with a waiting prompt: nothing is launched for it",
      [...upNow, ended("stopped"), prompt("p-1"), killed, trashed],
      {},
      [],
    ],
    ["killed and unknown: wait", [...upNow, killed], { runtime: unknown }, [retry]],
    ["killed and the worktree unknown: wait", [...upNow, ended("stopped"), killed], { workspace: unknown }, [retry]],
    [
      "killed and absent while the board is looked at again: wait",
      [...upNow, killed],
      { lookAgainAt: now + 500 },
      [lookAgain],
    ],
    [
      "killed and ended while the board is looked at again: wait",
      [...upNow, ended("stopped"), killed],
      { lookAgainAt: now + 500 },
      [lookAgain],
    ],
  ]);
});

describe("[CORE-2] stopped, snoozed, archived: brought down, the worktree untouched", () => {
  const snooze = (until: number): SessionEvent => intent({ want: "snoozed", until });
  check([
    ["stopped and alive: stop", [...upNow, stopped], { runtime: alive() }, [stop("wanted-down")]],
    ["archived and alive: stop", [...upNow, intent({ want: "archived" })], { runtime: alive() }, [stop("wanted-down")]],
    ["stopped and absent: the end is recorded", [...upNow, stopped], {}, [recordEnd("stopped")]],
    ["stopped and down: nothing", [...upNow, ended("stopped"), stopped], {}, []],
    ["stopped before anything was launched: nothing", [created, stopped], {}, []],
    ["stopped and unknown: wait", [...upNow, stopped], { runtime: unknown }, [retry]],
    ["snoozed and alive: stop", [...upNow, snooze(now + 9_000)], { runtime: alive() }, [stop("wanted-down")]],
    [
      "snoozed and down: wait for its time",
      [...base, snooze(now + 9_000)],
      {},
      [{ do: "wait", until: now + 9_000, why: "snoozed" }],
    ],
    ["snoozed and its time has come: wake", [...base, snooze(now)], {}, [{ do: "wake" }]],
    [
      "snoozed past its time and unknown: wake, which touches nothing",
      [...upNow, snooze(now - 1)],
      { runtime: unknown },
      [{ do: "wake" }],
    ],
  ]);
});

describe("[CORE-3] wanted running: the worktree comes first", () => {
  check([
    ["planned: make it", [created], {}, [{ do: "create-workspace" }]],
    [
      "planned and the runtime unknown: make it, that harms nothing",
      [created],
      { runtime: unknown },
      [{ do: "create-workspace" }],
    ],
    [
      "in the trash: bring it back",
      [...upNow, ended("stopped"), killed, trashed, again],
      { workspace: absent },
      [{ do: "restore-workspace" }],
    ],
    ["[WORK-4] missing: never made anew", base, { workspace: absent }, []],
    [
      "[CORE-15] moved to the trash but not recorded so: bring it back",
      base,
      { workspace: absent, workspaceInTrash: true },
      [{ do: "restore-workspace" }],
    ],
    ["removed for good: nothing", [created, { type: "workspace.gone", reason: "emptied" }], {}, []],
    ["its disk does not answer: wait", base, { workspace: unknown }, [retry]],
    ["its making failed: not tried again", [created, started, failed], {}, []],
    [
      "its making failed and the person asks again: make it",
      [created, started, failed, again],
      {},
      [{ do: "create-workspace" }],
    ],
    ["missing under a living agent: the agent goes on", upNow, { runtime: alive(), workspace: absent }, []],
  ]);
});

describe("[CORE-4] wanted running: what lives is kept, one at most", () => {
  check([
    ["unknown: wait", upNow, { runtime: unknown }, [retry]],
    ["launched but not recorded so: adopt", [...base, started], { runtime: alive() }, [{ do: "adopt" }]],
    ["up and alive: nothing", upNow, { runtime: alive() }, []],
    ["another launch alive: stop it first", upNow, { runtime: aliveOther }, [stop("superseded")]],
    ["a launch nobody recorded: stop it first", base, { runtime: alive() }, [stop("superseded")]],
    ["recorded as ended but alive: kept", [...upNow, ended("crash")], { runtime: alive() }, [{ do: "adopt" }]],
    [
      "recorded as failed but alive: its rest is cleared",
      [...base, started, failed],
      { runtime: alive() },
      [stop("leftover")],
    ],
    [
      "[EVT-17] ended, and its pane still there: cleared before anything else",
      [...upNow, ended("crash")],
      { runtime: dead(null) },
      [stop("leftover")],
    ],
  ]);
});

describe("[CORE-5] wanted running: an end is classified by exit code and signal", () => {
  const deadAs = (code: number | null, signal: string | null): Row => {
    const exit = { code, signal };
    const how = code === 0 && signal === null ? "own-exit" : "crash";
    return [
      `[PROC-12] exit ${code}, signal ${signal}: ${how}`,
      upNow,
      { runtime: dead(exit) },
      [{ do: "record-end", how, exit, lastLines: ["bye"] }],
    ];
  };
  const leftBy = (events: SessionEvent[], ...exits: ExitStatus[]): Row[] =>
    exits.map((exit) => [
      `[LIVE-3] left by a person with ${exit.signal ?? exit.code}`,
      events,
      { runtime: dead(exit) },
      [{ do: "record-end", how: "own-exit", exit, lastLines: ["bye"] }],
    ]);
  const shell: SessionEvent = { ...created, role: "shell", agent: "shell" };
  check([
    deadAs(0, null),
    deadAs(1, null),
    deadAs(0, "SIGKILL"),
    deadAs(null, "SIGTERM"),
    deadAs(143, null),
    ...leftBy(upNow, { code: 130, signal: null }, { code: null, signal: "SIGINT" }),
    ...leftBy([shell, ready, started, up], { code: 1, signal: null }, { code: 127, signal: null }),
    [
      "a shell that was killed: crash",
      [shell, ready, started, up],
      { runtime: dead({ code: null, signal: "SIGKILL" }) },
      [{ do: "record-end", how: "crash", exit: { code: null, signal: "SIGKILL" }, lastLines: ["bye"] }],
    ],
    [
      "a chat agent has no keys to be pressed: crash",
      [chat, ready, started, up],
      { runtime: dead({ code: 130, signal: null }) },
      [{ do: "record-end", how: "crash", exit: { code: 130, signal: null }, lastLines: ["bye"] }],
    ],
    [
      "dead without a status: crash",
      upNow,
      { runtime: dead(null) },
      [{ ...recordEnd("crash"), lastLines: ["bye"] } as Action],
    ],
    [
      "dead in the middle of its launch: crash",
      [...base, started],
      { runtime: dead({ code: 1, signal: null }) },
      [{ do: "record-end", how: "crash", exit: { code: 1, signal: null }, lastLines: ["bye"] }],
    ],
    ["absent after a reboot: lost", upNow, { absence: "other-boot" }, [recordEnd("lost")]],
    ["absent without a tmux server: lost", upNow, { absence: "no-server" }, [recordEnd("lost")]],
    ["absent and its process proven gone: crash", upNow, { absence: "identity-gone" }, [recordEnd("crash")]],
    ["absent: crash", upNow, {}, [recordEnd("crash")]],
    ["nothing seen of its launch: it never came to be", [...base, started], {}, [recordEnd("lost")]],
    [
      "the same where what is lost stays down: a crash, so that it is tried again",
      [...base, started],
      { restoreLost: false },
      [recordEnd("crash")],
    ],
    [
      "lost in a turn: the end, then the turn",
      [chat, ready, started, up, turn],
      { absence: "other-boot" },
      [recordEnd("lost"), settleTurn],
    ],
    [
      "dead in a turn: the turn waits until the rest is gone",
      [chat, ready, started, up, turn],
      { runtime: dead({ code: 1, signal: null }) },
      [{ do: "record-end", how: "crash", exit: { code: 1, signal: null }, lastLines: ["bye"] }],
    ],
    [
      "down with an open turn: settled before a launch",
      [chat, ready, started, up, turn, ended("crash")],
      {},
      [settleTurn],
    ],
    [
      "down with an interrupted prompt: settled before a launch",
      [...upNow, prompt("p-1"), sending("p-1"), ended("crash")],
      {},
      [settle("p-1")],
    ],
    ["[CORE-9] absent while the board is looked at again: wait", upNow, { lookAgainAt: now + 500 }, [lookAgain]],
    [
      "[CORE-9] dead without a status while the board is looked at again: wait",
      upNow,
      { runtime: dead(null), lookAgainAt: now + 500 },
      [lookAgain],
    ],
    ["[CORE-9] after the second look: concluded", upNow, { lookAgainAt: now }, [recordEnd("crash")]],
    [
      "[CORE-9] a proven cause does not wait",
      upNow,
      { absence: "other-boot", lookAgainAt: now + 500 },
      [recordEnd("lost")],
    ],
    [
      "[CORE-9] an exit status does not wait",
      upNow,
      { runtime: dead({ code: 0, signal: null }), lookAgainAt: now + 500 },
      [{ do: "record-end", how: "own-exit", exit: { code: 0, signal: null }, lastLines: ["bye"] }],
    ],
  ]);
});

describe("[CORE-6] what ended is launched again, or rests until asked", () => {
  const crash = (at: number): SessionEvent & { at?: number } => ended("crash", { code: 1, signal: null }, at);
  const crashes = (...at: number[]): (SessionEvent & { at?: number })[] => [
    ...talked,
    ...at.flatMap((time) => [started, up, crash(time)]),
  ];
  check([
    ["first launch", base, {}, [fresh()]],
    ["own exit: stays ended", [...talked, ended("own-exit")], {}, []],
    ["own exit, asked again: resumed", [...talked, ended("own-exit"), again], {}, [resume()]],
    ["own exit, a newer prompt: resumed", [...talked, ended("own-exit"), prompt("p-1")], {}, [resume()]],
    ["own exit, an older prompt still waiting: stays ended", [...talked, prompt("p-1"), ended("own-exit")], {}, []],
    ["one crash: resumed at once", crashes(now), {}, [resume(2)]],
    ["two crashes within a minute: resumed", crashes(now - 59_000, now), {}, [resume(3)]],
    ["three crashes within a minute: failed", crashes(now - 59_000, now - 1_000, now), {}, []],
    ["three crashes, the first a minute ago: resumed", crashes(now - 60_000, now - 1_000, now), {}, [resume(3)]],
    ["three crashes an hour ago: still failed", crashes(now - 3_600_000, now - 3_599_000, now - 3_598_000), {}, []],
    ["three crashes and a newer prompt: still failed", [...crashes(now - 2, now - 1, now), prompt("p-1")], {}, []],
    ["three crashes, asked again: a whole budget again", [...crashes(now - 2, now - 1, now), again], {}, [resume()]],
    ["lost: resumed", [...talked, ended("lost")], {}, [resume()]],
    ["lost with --no-restore: stays down", [...talked, ended("lost")], { restoreLost: false }, []],
    [
      "lost with --no-restore, asked again: resumed",
      [...talked, ended("lost"), again],
      { restoreLost: false },
      [resume()],
    ],
    [
      "lost with --no-restore, a newer prompt: resumed",
      [...talked, ended("lost"), prompt("p-1")],
      { restoreLost: false },
      [resume()],
    ],
    ["stopped and wanted running again: resumed", [...talked, stopped, ended("stopped"), again], {}, [resume()]],
    ["a failed launch: not tried again", [...base, started, failed], {}, []],
    ["a failed launch, asked again: launched", [...base, started, failed, again], {}, [fresh()]],
    ["a failed launch, a newer prompt: launched", [...base, started, failed, prompt("p-1")], {}, [fresh()]],
    ["a failed launch, an older prompt: not tried again", [...base, prompt("p-1"), started, failed], {}, []],
    ["launches wait for the second look too", [...talked, ended("stopped")], { lookAgainAt: now + 500 }, [lookAgain]],
  ]);
});

describe("[CORE-7] the conversation is taken up where there is one", () => {
  const resumeStarted: SessionEvent = { ...started, how: "resume" } as SessionEvent;
  const failures = Array.from({ length: 3 }, () => [resumeStarted, failed]).flat();
  check([
    [
      "never prompted: fresh",
      [...upNow, { type: "conversation.pinned", agentSessionId: "c" }, ended("stopped")],
      {},
      [fresh()],
    ],
    [
      "[CONV-1] no known conversation: fresh, no guess",
      [...upNow, prompt("p-1"), sending("p-1"), sent("p-1"), ended("stopped")],
      {},
      [fresh()],
    ],
    ["an agent without a way back: fresh", [...talked, ended("stopped")], { canResume: false }, [fresh()]],
    [
      "[CONV-2] three resumes failed: the context is reset",
      [...talked, ended("lost"), ...failures, prompt("p-1")],
      {},
      [{ do: "reset-context", why: "3 attempts in a row to resume the conversation failed" }],
    ],
    [
      "[CONV-2] after the reset: fresh",
      [...talked, ended("lost"), ...failures, prompt("p-1"), { type: "context.reset", reason: "r", previous: "c" }],
      {},
      [fresh()],
    ],
    [
      "two resumes failed: tried once more",
      [...talked, ended("lost"), ...failures.slice(2), prompt("p-1")],
      {},
      [resume()],
    ],
  ]);
});

describe("[CORE-8] prompts go one at a time, in order, and never twice", () => {
  const two = [prompt("p-1"), prompt("p-2")];
  const doubtful: SessionEvent = { type: "prompt.doubtful", promptId: asPromptId("p-1"), reason: "r" };
  check([
    ["up and idle: the first", [...upNow, ...two], { runtime: alive() }, [deliver("p-1")]],
    [
      "terminal agent at work: it queues what is typed",
      [...upNow, ...two],
      { runtime: alive({ activity: "working" }) },
      [deliver("p-1")],
    ],
    [
      "activity not known: the runtime looks before it types",
      [...upNow, ...two],
      { runtime: alive({ activity: null }) },
      [deliver("p-1")],
    ],
    ["a question is open: never typed into", [...upNow, ...two], { runtime: alive({ activity: "needs_input" }) }, []],
    [
      "chat turn open: it waits",
      [chat, ready, started, up, { type: "turn.started", promptId: asPromptId("p-0") }, ...two],
      { runtime: alive({ activity: "working" }) },
      [],
    ],
    [
      "a turn that the agent began by itself does not hold up the person's",
      [chat, ready, started, up, turn, ...two],
      { runtime: alive({ activity: "working" }) },
      [{ do: "deliver", prompt: asPromptId("p-1") }],
    ],
    [
      "chat turn ended: the next",
      [chat, ready, started, up, turn, { type: "turn.ended", stopReason: "end_turn" }, ...two],
      { runtime: alive() },
      [deliver("p-1")],
    ],
    ["one is being sent: nothing", [...upNow, ...two, sending("p-1")], { runtime: alive(), sendInProgress: true }, []],
    [
      "its sending was interrupted: settled first",
      [...upNow, ...two, sending("p-1")],
      { runtime: alive() },
      [settle("p-1")],
    ],
    [
      "its sending was interrupted and a question is open: settled by looking",
      [...upNow, ...two, sending("p-1")],
      { runtime: alive({ activity: "needs_input" }) },
      [settle("p-1")],
    ],
    [
      "a doubtful one is never repeated and holds up none",
      [...upNow, ...two, sending("p-1"), doubtful],
      { runtime: alive() },
      [deliver("p-2")],
    ],
    ["only a doubtful one: nothing", [...upNow, prompt("p-1"), sending("p-1"), doubtful], { runtime: alive() }, []],
    ["not yet up: adopted first", [...base, ...two, started], { runtime: alive() }, [{ do: "adopt" }]],
    ["down: launched first", [...base, ...two], {}, [fresh()]],
  ]);
});

describe("[CORE-17] a living chat agent is replaced only where that costs nobody a turn", () => {
  const mine: SessionEvent = { type: "turn.started", promptId: asPromptId("p-0") };
  const asked: SessionEvent = { type: "permission.asked", requestId: "r", title: "t", options: [] };
  const chatUp = [chat, ready, started, up];
  check([
    ["another build, idle: at once", chatUp, { runtime: alive({ stale: true }) }, [stop("stale")]],
    ["another build, in a turn: it is drained", [...chatUp, mine], { runtime: alive({ stale: true }) }, []],
    ["another build, asking: it waits", [...chatUp, mine, asked], { runtime: alive({ stale: true }) }, []],
    ["deaf and idle", chatUp, { runtime: alive({ deaf: true }) }, [stop("deaf")]],
    ["deaf in a turn that can still end by itself", [...chatUp, mine], { runtime: alive({ deaf: true }) }, []],
    [
      "deaf, with a question that nobody can answer",
      [...chatUp, mine, asked],
      { runtime: alive({ deaf: true }) },
      [stop("deaf")],
    ],
    [
      "a person asked for it, turn or not",
      [...chatUp, mine],
      { runtime: alive(), restartAsked: true },
      [stop("restart")],
    ],
    ["a terminal is never replaced", upNow, { runtime: alive({ stale: true, deaf: true }) }, []],
  ]);
});
