/** For tests of decide: rows of events and facts with the action that follows, and short names for their parts. */
import { expect, test } from "vitest";
import type { SessionEvent } from "../contract/event.ts";
import { asPromptId } from "../contract/ids.ts";
import { decide } from "./decide.ts";
import type { Action, SessionFacts } from "../model/facts.ts";
import { created, factsOf, fold, intent, ready, started, t0, up } from "./facts.fixture.ts";

export const now = t0 + 100_000;
export type Row = [
  title: string,
  events: (SessionEvent & { at?: number })[],
  facts: Partial<Omit<SessionFacts, "session">>,
  action: Action | null,
];

export const stop = (why: Extract<Action, { do: "stop" }>["why"]): Action => ({ do: "stop", why });
export const recordEnd = (how: Extract<Action, { do: "record-end" }>["how"]): Action => ({
  do: "record-end",
  how,
  exit: null,
  lastLines: [],
});
export const retry: Action = { do: "wait", until: now + 2_000, why: "could not be observed: tmux did not answer" };
export const cancelCreate: Action = { do: "cancel-create" };
export const settleTurn: Action = { do: "settle-turn", as: "orphaned_at_restart" };
export const settle = (id: string): Action => ({ do: "settle-prompt", prompt: asPromptId(id) });
export const deliver = (id: string): Action => ({ do: "deliver", prompt: asPromptId(id) });
export const fresh = (attempt = 1): Action => ({ do: "launch", how: "fresh", attempt });
export const resume = (attempt = 1): Action => ({ do: "launch", how: "resume", attempt });
export const recheck: Action = {
  do: "wait",
  until: now + 500,
  why: "most sessions look dead at once; checking again before concluding",
};
export const turn: SessionEvent = { type: "turn.started", promptId: null };
export const chat: SessionEvent = { ...created, kind: "chat" };
export const base = [created, ready];
export const upNow = [...base, started, up];
export const killed = intent({ want: "killed" });
export const deleted = intent({ want: "deleted" });
export const stopped = intent({ want: "stopped" });
export const again = intent({ want: "running" });

export function check(rows: Row[]): void {
  test.each(rows)("%s", (_title, events, facts, action) => {
    expect(decide(factsOf(fold(events), facts), now)).toEqual(action);
  });
}
