/** One verb on one session: judged against the state as it is when it is committed, and written before anything is done. */
import { applyVerb, type Verb } from "../core/lifecycle.ts";
import { alreadyOrchestrated, orchestratorInTheWay } from "../core/orchestrator.ts";
import { HoldfastError } from "../protocol/error.ts";
import type { SessionEvent } from "../protocol/event.ts";
import type { SessionState } from "../protocol/session.ts";
import { runtimeFacts } from "./facts.ts";
import type { Loop } from "./loop.ts";
import type { Parts } from "./parts.ts";

export async function change(
  parts: Parts,
  loop: Loop,
  session: SessionState,
  verb: Verb,
  by: string,
  attachments: readonly Uint8Array[] = [],
): Promise<SessionState> {
  const seen = runtimeFacts(loop.observation(session));
  const agent =
    seen.is === "unknown" ? { unknown: seen.why } : seen.is === "known" && seen.value.agent.alive ? "alive" : "down";
  const workspaceMissing = session.workspace.at === "ready" && !(await hasFiles(parts, session));
  const judge = (state: SessionState): SessionEvent[] => {
    const answer = applyVerb(state, verb, { by, agent, workspaceMissing });
    if (!answer.ok)
      throw new HoldfastError(answer.code, answer.message, answer.hint === null ? {} : { hint: answer.hint });
    if (answer.events.some((event) => event.type === "session.intent" && event.want.want === "running")) {
      refuseBeside(orchestratorInTheWay(parts.store.sessions(), state));
    }
    return answer.events;
  };
  return parts.store.change(session.id, judge, attachments);
}

/** A project has one orchestrator. */
export function refuseBeside(other: SessionState | null): void {
  if (other === null) return;
  const { message, hint } = alreadyOrchestrated(other);
  throw new HoldfastError("conflict", message, { hint });
}

/** In place, or in the trash although a crash kept that from being recorded. */
async function hasFiles(parts: Parts, session: SessionState): Promise<boolean> {
  if (parts.workspaces.exists(session.workspacePath) !== false) return true;
  return (await parts.workspaces.listTrash()).some((entry) => entry.session === session.id);
}
