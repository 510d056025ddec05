/** Every combination of intent, run, runtime, worktree, turn and queue: what may never be decided, and that it ends. */
import { expect, test } from "vitest";
import type { SessionEvent } from "../contract/event.ts";
import { asPromptId, asTrashId } from "../contract/ids.ts";
import { reduce } from "../model/reduce.ts";
import type { SessionState, Workspace } from "../model/session.ts";
import { decide } from "./decide.ts";
import type { Action, SessionFacts } from "../model/facts.ts";
import { conversionEvents } from "../model/lifecycle.ts";
import { isLive } from "../model/runs.ts";
import {
  absent,
  alive,
  aliveOther,
  aliveUnrecorded,
  created,
  dead,
  ended,
  factsOf,
  failed,
  firstLaunch,
  fold,
  intent,
  otherLaunch,
  prompt,
  sending,
  started,
  t0,
  there,
  unknown,
  up,
} from "./facts.fixture.ts";

const now = t0 + 1_000_000;

const runs: SessionEvent[][] = [
  [],
  [started],
  [started, up],
  [started, failed],
  [started, up, ended("own-exit", { code: 0, signal: null })],
  [started, up, ended("crash")],
  [started, up, ended("crash"), started, ended("crash"), started, ended("crash")],
  [started, up, ended("stopped")],
  [started, up, ended("lost")],
];
const intents: SessionEvent[][] = [
  [],
  [intent({ want: "running" })],
  [intent({ want: "running", convert: { kind: "chat", fresh: false } })],
  [intent({ want: "stopped" })],
  [intent({ want: "snoozed", until: now + 60_000 })],
  [intent({ want: "snoozed", until: now - 1 })],
  [intent({ want: "archived" })],
  [intent({ want: "killed" })],
  [intent({ want: "deleted" })],
];
const workspaces: Workspace[] = [
  { at: "planned" },
  { at: "planned", failed: "r" },
  { at: "ready" },
  { at: "trashed", trash: asTrashId("trash-1") },
  { at: "gone", reason: "r" },
];
const sights: Pick<SessionFacts, "runtime" | "absence">[] = [
  { runtime: unknown, absence: null },
  { runtime: alive(), absence: null },
  { runtime: alive({ activity: "needs_input" }), absence: null },
  { runtime: aliveOther, absence: null },
  { runtime: aliveUnrecorded, absence: null },
  { runtime: dead(null), absence: null },
  { runtime: dead({ code: 0, signal: null }), absence: null },
  { runtime: absent, absence: null },
  { runtime: absent, absence: "identity-gone" },
  { runtime: absent, absence: "other-boot" },
];
const doubtful: SessionEvent = { type: "prompt.doubtful", promptId: asPromptId("p-1"), reason: "r" };
const queues: SessionEvent[][] = [
  [],
  [prompt("p-1"), prompt("p-2")],
  [prompt("p-1"), prompt("p-2"), sending("p-1")],
  [prompt("p-1"), prompt("p-2"), sending("p-1"), doubtful],
];
const trashed: SessionEvent = {
  type: "workspace.trashed",
  trash: asTrashId("trash-1"),
  ref: null,
  uncommitted: 0,
  unpushed: 0,
};
const open: SessionEvent = { type: "turn.started", promptId: null };

function* combinations(): Generator<SessionFacts> {
  for (const kind of ["terminal", "chat"] as const)
    for (const queue of queues)
      for (const turn of kind === "chat" ? [[], [open]] : [[]])
        for (const run of runs)
          for (const wanted of intents) {
            const folded = fold([{ ...created, kind }, ...queue, ...turn, ...run, ...wanted]);
            for (const workspace of workspaces)
              for (const disk of [there, absent, unknown])
                for (const sight of sights)
                  for (const recheckAt of [null, now + 5_000])
                    for (const isCreating of workspace.at === "planned" ? [false, true] : [false])
                      yield factsOf({ ...folded, workspace }, { workspace: disk, ...sight, recheckAt, isCreating });
          }
}

const forward: ReadonlySet<Action["do"]> = new Set<Action["do"]>([
  "launch",
  "adopt",
  "deliver",
  "create-workspace",
  "restore-workspace",
  "wake",
  "reset-context",
  "convert",
]);
const harmless: ReadonlySet<Action["do"]> = new Set<Action["do"]>([
  "wait",
  "wake",
  "create-workspace",
  "restore-workspace",
]);

/** What is wrong with an action, or null. */
function fault(facts: SessionFacts, { do: name }: Action): string | null {
  const { session, runtime, workspace, absence, recheckAt } = facts;
  const { want } = session.intent;
  if (want !== "running" && want !== "snoozed" && forward.has(name)) return `${want} moves forward`;
  if (want !== "running" && name === "launch") return `${want} launches`;
  if (runtime.is === "known" && runtime.value.unrecorded === true && name === "stop") {
    return "stops a launch that the record does not know";
  }
  if (runtime.is === "unknown" && !harmless.has(name)) return "acts without an observation";
  if (workspace.is === "unknown" && (name === "launch" || name === "remove-workspace")) {
    return "acts on a worktree that was not observed";
  }
  if (name === "launch" && (runtime.is !== "absent" || isLive(session.run))) return "a second agent";
  if (name === "launch" && (session.workspace.at !== "ready" || workspace.is !== "known")) return "no worktree";
  if (name === "remove-workspace" && (runtime.is !== "absent" || (want !== "killed" && want !== "deleted"))) {
    return "removes a worktree that is needed or in use";
  }
  if (name === "remove-workspace" && facts.isCreating === true) return "removes a worktree that is being created";
  if (name === "cancel-create" && want === "running") return "cancels the creation of a worktree that is needed";
  if (name === "record-end" && !isLive(session.run)) return "ends a run that is not recorded";
  if (name === "convert" && (runtime.is !== "absent" || isLive(session.run))) return "converts next to the other kind";
  const unproven = runtime.is === "absent" && absence === null && recheckAt !== null;
  if (unproven && ["record-end", "remove-workspace", "launch", "convert"].includes(name)) {
    return "concludes before the second observation";
  }
  return null;
}

test("[DECIDE-11] no combination of facts leads from killed to a launch, from unknown to harm, or to a second agent", () => {
  let count = 0;
  let wrong: object | null = null;
  for (const facts of combinations()) {
    count++;
    const action = decide(facts, now);
    const why = action === null ? null : fault(facts, action);
    if (why !== null) wrong ??= { why, action, facts };
  }
  expect(wrong).toBeNull();
  expect(count).toBeGreaterThan(150_000);
});

test("[DECIDE-12] performing what was decided and looking again ends in nothing or a wait, from everywhere", () => {
  let restless: object | null = null;
  for (const facts of combinations()) if (!comesToRest(facts)) restless ??= facts;
  expect(restless).toBeNull();
});

function comesToRest(first: SessionFacts): boolean {
  let facts = first;
  for (let steps = 0; steps < 20; steps++) {
    const action = decide(facts, now);
    if (action === null || action.do === "wait") return true;
    facts = performed(facts, action);
  }
  return false;
}

/** What is seen after an action that worked. */
function performed(facts: SessionFacts, action: Action): SessionFacts {
  const { session } = facts;
  const write = (...events: SessionEvent[]): SessionState =>
    events.reduce<SessionState>((state, event) => reduce(state, { ...event, seq: state.seq + 1, at: now }), session);
  const promptId = "prompt" in action ? action.prompt : asPromptId("none");
  switch (action.do) {
    case "create-workspace":
    case "restore-workspace":
      return { ...facts, session: { ...session, workspace: { at: "ready" } }, workspace: there, isCreating: false };
    case "cancel-create":
      return { ...facts, isCreating: false };
    case "remove-workspace":
      return { ...facts, session: write({ type: "workspace.gone", reason: "r" }), workspace: absent };
    case "launch":
      return { ...facts, session: write(started, up), runtime: alive() };
    case "adopt":
      return { ...facts, session: write({ type: "launch.adopted", launch: firstLaunch, agent: null }) };
    case "adopt-unrecorded": {
      const launch = otherLaunch;
      return {
        ...facts,
        session: write(intent({ want: "running" }, "recovery"), { type: "launch.adopted", launch, agent: null }),
        runtime: alive({ launch }),
      };
    }
    case "stay-ended":
      return { ...facts, session: write(intent({ want: "killed" }, "recovery"), trashed) };
    case "deliver":
      return { ...facts, session: write({ type: "prompt.sent", promptId, seenBy: "screen" }) };
    case "settle-prompt":
      return { ...facts, session: write({ type: "prompt.doubtful", promptId, reason: "r" }) };
    case "settle-turn":
      return { ...facts, session: write({ type: "turn.ended", stopReason: action.as }) };
    case "record-end":
      return { ...facts, session: write(ended(action.how, action.exit)) };
    case "reset-context":
      return { ...facts, session: write({ type: "context.reset", reason: action.why, previous: null }) };
    case "stop":
      return { ...facts, runtime: absent, absence: "identity-gone" };
    case "convert":
      return { ...facts, session: write(...conversionEvents(session, session, false)) };
    case "wake":
      return { ...facts, session: write(intent({ want: "running" }, "snooze-timer")) };
    case "wait":
      return facts;
    default:
      action satisfies never;
      return facts;
  }
}
