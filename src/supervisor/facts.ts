/** What was observed, in the words of the decision core. */
import type { Observed, RuntimeFacts } from "../model/facts.ts";
import type { Observation } from "../ports/runtime.ts";

export function runtimeFacts(observation: Observation | null): Observed<RuntimeFacts> {
  if (observation === null) return { is: "unknown", why: "not looked at yet" };
  const { seen } = observation;
  if (seen.is !== "known") return seen;
  const { launch, agent, activity, lastLines, starting = false, deaf = false, stale = false } = seen.value;
  const { neverStarted = false } = seen.value;
  return {
    is: "known",
    value: {
      launch,
      agent: agent.alive ? { alive: true } : agent,
      activity: activity?.activity ?? null,
      ...(activity?.activity === "needs_input" ? { asks: activity.reason } : {}),
      starting,
      lastLines,
      deaf,
      neverStarted,
      stale,
    },
  };
}

export function workspaceFacts(exists: boolean | "unknown"): Observed<true> {
  if (exists === "unknown") return { is: "unknown", why: "the worktree's directory cannot be looked at" };
  return exists ? { is: "known", value: true } : { is: "absent" };
}
