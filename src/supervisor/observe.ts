/** Observes many sessions at once, each runtime with a deadline: a late response means unknown, never absent. */
import { bounded } from "../base/async.ts";
import type { Observation } from "../ports/runtime.ts";
import { kinds, type SessionId } from "../contract/ids.ts";
import { type SessionState } from "../model/session.ts";
import type { Services } from "./services.ts";
import type { Observed, RuntimeFacts } from "../model/facts.ts";

/** Longer than any runtime's own deadline: this one is for a runtime that hangs. */
const observeDeadlineMs = 8_000;

export async function observe(
  services: Pick<Services, "runtimes" | "log">,
  sessions: readonly SessionState[],
): Promise<Map<SessionId, Observation>> {
  const found = await Promise.all(
    kinds.map((kind) =>
      observeKind(
        services,
        kind,
        sessions.filter((session) => session.kind === kind),
      ),
    ),
  );
  return new Map(found.flatMap((map) => [...map]));
}

async function observeKind(
  services: Pick<Services, "runtimes" | "log">,
  kind: SessionState["kind"],
  sessions: SessionState[],
): Promise<Map<SessionId, Observation>> {
  if (sessions.length === 0) return new Map();
  const unknown = (why: string): Map<SessionId, Observation> =>
    new Map(sessions.map((session) => [session.id, { seen: { is: "unknown", why }, cause: null }]));
  const runtime = services.runtimes[kind];
  try {
    const answer = await bounded(runtime.observe(sessions), observeDeadlineMs);
    if (answer === "too-late")
      return unknown(`the ${kind} runtime did not answer within ${observeDeadlineMs / 1000} s`);
    return answer;
  } catch (error) {
    services.log.warn("observation failed", { kind, error });
    return unknown(error instanceof Error ? error.message : String(error));
  }
}

export function runtimeFacts(observation: Observation | null): Observed<RuntimeFacts> {
  if (observation === null) return { is: "unknown", why: "not observed yet" };
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
  if (exists === "unknown") return { is: "unknown", why: "the worktree's directory cannot be checked" };
  return exists ? { is: "known", value: true } : { is: "absent" };
}
