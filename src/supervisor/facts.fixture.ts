/** Whole facts for tests, in one line each. A session is made by folding events, so that no test invents a state. */
import type { FactEvent, IntentEvent, SessionEvent } from "../contract/event.ts";
import {
  asLaunchId,
  asProjectId,
  asPromptId,
  asSessionId,
  asTrashId,
  type EndedHow,
  type ExitStatus,
  type Want,
} from "../contract/ids.ts";
import { reduce } from "../model/reduce.ts";
import type { SessionState } from "../model/session.ts";
import type { Observed, RuntimeFacts, SessionFacts } from "../model/facts.ts";

export const t0 = 1_000_000;
export const firstLaunch = asLaunchId("launch-1");
export const otherLaunch = asLaunchId("launch-0");

export const created: Extract<SessionEvent, { type: "session.created" }> = {
  type: "session.created",
  id: asSessionId("ma-1"),
  project: asProjectId("my-app"),
  kind: "terminal",
  role: "worker",
  agent: "demo",
  title: "a title",
  issue: null,
  branch: "ma-1",
  branchCreated: false,
  base: "main",
  workspacePath: "/worktrees/my-app/ma-1",
  by: "person",
};

/** Folds events, each one second after the other unless it carries a time. */
export function fold(events: (SessionEvent & { at?: number })[]): SessionState {
  let state: SessionState | null = null;
  for (const [index, event] of events.entries()) {
    state = reduce(state, { ...event, seq: index + 1, at: event.at ?? t0 + index * 1000 });
  }
  if (state === null) throw new Error("no events");
  return state;
}

export const prompt = (id: string): FactEvent => ({
  type: "prompt.admitted",
  promptId: asPromptId(id),
  text: `text of ${id}`,
  by: "person",
});
export const sending = (id: string): FactEvent => ({
  type: "prompt.sending",
  promptId: asPromptId(id),
  launch: firstLaunch,
});
export const sent = (id: string): FactEvent => ({ type: "prompt.sent", promptId: asPromptId(id), seenBy: "screen" });
export const intent = (want: Want, by = "person"): IntentEvent => ({ type: "session.intent", want, by }) as IntentEvent;
export const ready: FactEvent = {
  type: "workspace.ready",
  path: created.workspacePath,
  branch: created.branch,
  branchCreated: true,
  base: "main",
};
export const trashed: FactEvent = {
  type: "workspace.trashed",
  trash: asTrashId("trash-1"),
  ref: null,
  uncommitted: 0,
  unpushed: 0,
};
export const started: FactEvent = { type: "launch.started", launch: firstLaunch, how: "fresh", attempt: 1 };
export const up: FactEvent = { type: "launch.up", launch: firstLaunch, agent: null };
export const failed: FactEvent = {
  type: "launch.failed",
  launch: firstLaunch,
  reason: "no such binary",
  lastLines: [],
};
export const ended = (how: EndedHow, exit: ExitStatus | null = null, at?: number): FactEvent & { at?: number } => ({
  type: "run.ended",
  launch: firstLaunch,
  how,
  exit,
  uptimeMs: 1,
  lastLines: [],
  ...(at === undefined ? {} : { at }),
});
export const conversation: FactEvent = { type: "conversation.pinned", agentSessionId: "conversation-1" };
/** A session that was prompted in a known conversation and is up. */
export const talked: SessionEvent[] = [
  created,
  ready,
  started,
  up,
  conversation,
  prompt("p-0"),
  sending("p-0"),
  sent("p-0"),
];

export const absent = { is: "absent" } as const;
export const unknown = { is: "unknown", why: "tmux did not answer" } as const;
export const there = { is: "known", value: true } as const;

export function alive(more: Partial<RuntimeFacts> = {}): Observed<RuntimeFacts> {
  return {
    is: "known",
    value: { launch: firstLaunch, agent: { alive: true }, activity: "idle", lastLines: [], ...more },
  };
}

export function dead(exit: ExitStatus | null, more: Partial<RuntimeFacts> = {}): Observed<RuntimeFacts> {
  return alive({ agent: { alive: false, exit }, activity: null, lastLines: ["bye"], ...more });
}

export const aliveOther = alive({ launch: otherLaunch });
/** Started by a daemon whose record was lost since. */
export const aliveUnrecorded = alive({ launch: otherLaunch, unrecorded: true });

export function factsOf(session: SessionState, more: Partial<Omit<SessionFacts, "session">> = {}): SessionFacts {
  return {
    session,
    runtime: absent,
    absence: null,
    workspace: there,
    restoreLost: true,
    canResume: true,
    recheckAt: null,
    ...more,
  };
}
