/** Applies one verb to one session: judged against the state at commit time, and recorded before anything acts on it. */
import { reach } from "../base/test-points.ts";
import { applyVerb, type PolicyVerb, type Verb } from "../model/lifecycle.ts";
import { alreadyOrchestrated, orchestratorInTheWay } from "../model/roles.ts";
import { HoldfastError } from "../contract/errors.ts";
import type { FactEvent, Judged } from "../contract/event.ts";
import type { SessionState } from "../model/session.ts";
import type { Actor } from "../contract/ids.ts";
import { runtimeFacts } from "./observe.ts";
import type { Loop } from "./loop.ts";
import type { Services } from "./services.ts";
import { repositoryOf } from "./worktrees.ts";

export async function commitVerb(
  services: Pick<Services, "store" | "workspaces" | "settings">,
  loop: Loop,
  session: SessionState,
  verb: Verb,
  by: string,
  attachments: readonly Uint8Array[] = [],
): Promise<SessionState> {
  const seen = runtimeFacts(loop.observation(session));
  const agent =
    seen.is === "unknown" ? { unknown: seen.why } : seen.is === "known" && seen.value.agent.alive ? "alive" : "down";
  const workspaceMissing = session.workspace.at === "ready" && !(await hasFiles(services, session));
  const putBack = verb.verb === "restore" ? await findReturned(services, session) : [];
  await reach(`verb.${verb.verb}`, session.id);
  const judge = (state: SessionState): Judged => {
    const isBack = putBack.length > 0 && state.workspace.at === "gone";
    const judged: SessionState = isBack ? { ...state, workspace: { at: "ready" } } : state;
    const answer = applyVerb(judged, verb, { by, agent, workspaceMissing });
    if (!answer.ok) {
      const { code, message, hint, reason } = answer;
      const details = reason === undefined ? {} : { reason, session: session.id, path: session.workspacePath };
      throw new HoldfastError(code, message, { details, ...(hint === null ? {} : { hint }) });
    }
    if (answer.events.some((event) => event.type === "session.intent" && event.want.want === "running")) {
      refuseBeside(orchestratorInTheWay(services.store.sessions(), state));
    }
    // In one commit with the intent: between the two, a killed session's worktree would go to the trash.
    return isBack ? { ...answer, events: [...putBack, ...answer.events] } : answer;
  };
  return services.store.applyVerb(session.id, judge, attachments);
}

/** Applies a policy's verb. A refusal is not a failure: something newer happened meanwhile. */
export function commitPolicyVerb(
  { store }: Pick<Services, "store">,
  session: SessionState,
  verb: PolicyVerb,
  by: Actor,
): Promise<SessionState> {
  return store.applyVerb(session.id, (state) => {
    const answer = applyVerb(state, verb, { by, agent: "down" });
    return answer.ok ? answer : null;
  });
}

/** The event for a worktree that was gone when its session was killed and now exists again at its path. */
async function findReturned(
  services: Pick<Services, "workspaces" | "settings">,
  session: SessionState,
): Promise<FactEvent[]> {
  const { id, workspace, workspacePath: path, branch, base, branchCreated } = session;
  if (workspace.at !== "gone" || workspace.original !== undefined || services.workspaces.exists(path) !== true)
    return [];
  const ready = { path, branch, base, branchCreated };
  const repository = await repositoryOf(services, session);
  const isBack = await services.workspaces.findReturned({ ...ready, session: id, repository });
  return isBack ? [{ type: "workspace.ready", ...ready }] : [];
}

/** A project has at most one orchestrator. */
export function refuseBeside(other: SessionState | null): void {
  if (other === null) return;
  const { message, hint } = alreadyOrchestrated(other);
  throw new HoldfastError("conflict", message, { hint });
}

/** In place, or in the trash without a record of it because of a crash. */
async function hasFiles(services: Pick<Services, "workspaces">, session: SessionState): Promise<boolean> {
  if (services.workspaces.exists(session.workspacePath) !== false) return true;
  return (await services.workspaces.listTrash()).some((entry) => entry.session === session.id);
}
