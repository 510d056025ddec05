/** For tests of plans: facts, and a plan as short text. */
import type { SessionEvent } from "../../contract/event.ts";
import { type Status } from "../../contract/ids.ts";
import type { ReactionSettings } from "../../contract/reaction.ts";
import type { SessionState } from "../../model/session.ts";
import { planReactions, type ReactionFacts, type ReactionStep } from "./plan.ts";
import { created, ready, sent, started, t0, prompt, up } from "../../supervisor/facts.fixture.ts";
import { check } from "./pull-request.fixture.ts";

export const now = t0 + 60_000;
export const upNow = [created, ready, started, up, prompt("p"), sent("p")];
export const send = { action: "send-to-agent" } as const;
export const red = { checks: [check("lint", "failed"), check("test", "failed")] };
export const green = { checks: [check("test", "passed")], review: "approved" as const, mergeable: true };

export function facts(session: SessionState, status: Status, more: Partial<ReactionFacts> = {}): ReactionFacts {
  return { session, status, polledAt: now, threads: new Map(), allDone: null, ...more };
}

export const plan = (of: ReactionFacts, settings: ReactionSettings, at = now): string[] =>
  planReactions(of, settings, at).map(shortly);

export function shortly(step: ReactionStep): string {
  switch (step.do) {
    case "ask-threads":
      return "ask-threads";
    case "clear":
      return `clear ${step.reaction}`;
    case "escalate":
      return `escalate ${step.reaction}`;
    case "send":
    case "notify":
    case "merge":
      return `${step.do} ${step.reaction} ${step.attempt}`;
    default:
      return step satisfies never;
  }
}

/** The session after a step was carried out. */
export function after(events: SessionEvent[], of: ReactionFacts, settings: ReactionSettings, at = now): SessionEvent[] {
  const more = planReactions(of, settings, at).flatMap((step): SessionEvent[] => {
    if (step.do === "ask-threads") return [];
    if (step.do === "clear") return [{ type: "reaction.cleared", reaction: step.reaction }];
    const { reaction, key, why } = step;
    if (step.do === "escalate") return [{ type: "reaction.escalated", reaction, key, why }];
    const action = step.setting.action;
    return [{ type: "reaction.fired", reaction, key, why, action, attempt: step.attempt }];
  });
  return [...events, ...more];
}
