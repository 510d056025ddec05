/** What an agent that calls the daemon may do: the `who` of each operation, within the agent's own project. */
import type { Containment } from "../contract/containment.ts";
import { HoldfastError } from "../contract/errors.ts";
import { type Actor, asSessionId, type ProjectId } from "../contract/ids.ts";
import { operation, type OperationName } from "../contract/operations.ts";
import { includes, rightText, type Right } from "../contract/rights.ts";
import type { SpawnRequest } from "../contract/spawn.ts";
import { quoteBlock, inert } from "../model/text.ts";
import type { SessionState } from "../model/session.ts";
import { isShell } from "../model/roles.ts";
import type { ApiRequest, Authorize, Call } from "../ports/api.ts";
import type { ProjectSettings } from "../ports/projects.ts";
import { isShellSession, startOf } from "../supervisor/callers/callers.ts";
import type { Services } from "../supervisor/services.ts";

const prefix = "session:";

type Needs = Pick<Services, "store" | "agents">;

/** Refuses an agent what its rights do not include; the user may do everything. */
export function createAuthorize(services: Needs): Authorize {
  return (call) => {
    const asker = askingAgent(services, call.actor);
    if (asker === null) return;
    const why = refusal(asker, call.name, targetOf(services, call));
    if (why !== null) throw refused(why);
  };
}

/** Keeps what an agent may see: its own project and its sessions, without shells. The user sees all. */
export function visibleTo<T extends { id: string; project?: string }>(
  services: Needs,
  actor: Actor,
  all: readonly T[],
): T[] {
  const asker = askingAgent(services, actor);
  if (asker === null) return [...all];
  return all.filter(
    ({ id, project = id }) => project === asker.project && sessionTarget(services, id)?.isShell !== true,
  );
}

/** The calling agent; null for the user, also in a shell, and for Holdfast's own policies. */
export function askingAgent(services: Needs, actor: Actor): SessionState | null {
  if (!actor.startsWith(prefix)) return null;
  const id = actor.slice(prefix.length);
  const session = services.store.session(asSessionId(id));
  // A deleted session has no rights.
  if (session === null) throw new HoldfastError("forbidden", `Unknown session: ${id}`);
  return isShellSession(services, session) ? null : session;
}

/**
 * A spawn within an agent's rights: anything else is refused or removed here, and nowhere else. Its task is marked as an
 * agent's.
 *
 * @param wish the request with the project's defaults.
 */
export function clampSpawn(
  services: Needs,
  request: SpawnRequest,
  wish: Pick<SessionState, "role" | "agent">,
  actor: Actor,
): SpawnRequest {
  const agent = askingAgent(services, actor);
  if (agent === null) return request;
  const start = services.agents.of({ project: request.project, agent: wish.agent })?.terminal?.start ?? null;
  const isShellWish = isShell(wish, start);
  const why = spawnRefusal(agent, {
    role: wish.role,
    isShell: isShellWish,
    resume: request.resume === true,
    from: request.base !== undefined || request.branch !== undefined,
  });
  if (why !== null) throw refused(why);
  const { prompt } = request;
  return prompt === undefined || prompt === "" ? request : { ...request, prompt: agentMessage(agent.id, prompt) };
}

/** Throws if an issue's text would be typed into a shell, which would run it. */
export function refuseIssueInShell(
  services: Pick<Services, "agents">,
  settings: Pick<ProjectSettings, "id" | "tracker">,
  { issue }: Pick<SpawnRequest, "issue">,
  { role, kind, agent }: Pick<SessionState, "role" | "kind" | "agent">,
): void {
  // In any other role, or without a tracker, the issue is not read.
  if (issue === undefined || role !== "worker" || settings.tracker === null) return;
  if (!isShell({ role, agent }, startOf(services, { project: settings.id, agent, kind }))) return;
  throw new HoldfastError("invalid", `The agent ${agent} is a shell, which would run the text of issue ${issue}.`, {
    hint: "Choose another agent with --agent, or leave out the issue. Nothing was created.",
  });
}

/** The right that a device needs to prompt a session: a shell runs whatever is typed. */
export function promptRight(services: Needs, session: SessionState): Right {
  return isShellSession(services, session) ? "all" : "answer";
}

/** Throws if a device may not prompt this session. */
export function checkMayPrompt(
  services: Needs,
  session: SessionState,
  { device }: Pick<ApiRequest<OperationName>, "device">,
): void {
  if (device === undefined || includes(device.rights, promptRight(services, session))) return;
  throw new HoldfastError("forbidden", `${session.id} is a shell; this device ${rightText[device.rights]}.`, {
    hint: `On a device with all rights, change it under Settings, Devices. Or run \`holdfast device rights ${device.id} all\`.`,
  });
}

/** A prompt's text as the session gets it: an agent's is marked, the user's is not changed. */
export function promptText(services: Needs, text: string, actor: Actor): string {
  const agent = askingAgent(services, actor);
  return agent === null ? text : agentMessage(agent.id, text);
}

function refused(why: string): HoldfastError {
  return new HoldfastError("forbidden", why, { hint: "Ask the user to run this command." });
}

function targetOf(services: Needs, call: Call): Target | null {
  if (call.name === "spawn") return { project: call.input.project };
  if (call.name === "sessions") return { project: call.query.project };
  if (call.name === "stream" || call.name === "sse") return sessionTarget(services, call.query.session);
  // The handler reports an unknown session. The id of a pending spawn is not a session's.
  return call.name !== "spawning" && "id" in call.params ? sessionTarget(services, call.params.id) : null;
}

function sessionTarget(services: Needs, id: string | undefined): Target | null {
  const session = services.store.session(asSessionId(id ?? ""));
  return session === null
    ? null
    : {
        id: session.id,
        project: session.project,
        isShell: isShellSession(services, session),
        ...(session.contain === undefined ? {} : { contain: session.contain }),
      };
}

/** A message from one agent to another: marked and quoted, so that it is not mistaken for the user's own words. */
export function agentMessage(from: string, text: string): string {
  return `Message from session ${from} (an agent, not the user):\n\n${quoteBlock(inert(text), "message")}`;
}

export interface Asker {
  id: string;
  project: ProjectId;
  contain?: Containment;
}

function isContained({ contain }: { contain?: Containment }): boolean {
  return contain !== undefined && contain.mode !== "off";
}

export interface Target {
  id?: string;
  project?: string | undefined;
  isShell?: boolean;
  contain?: Containment;
}

/** Why an agent may not do this, or null if it may. */
export function refusal(asker: Asker, name: OperationName, target: Target | null): string | null {
  const right = operation(name).who.agent;
  if (right === undefined) {
    return `${asker.id} is an agent: it may spawn, list, message and read sessions of ${asker.project}. Only the user may do this.`;
  }
  if (right === "follow" && target === null) return `${asker.id} may follow one session of ${asker.project} at a time.`;
  if (right === "daemon" || target?.project === undefined) return null;
  if (target.project !== asker.project) {
    return `${asker.id} belongs to ${asker.project}; it has no access to ${target.project}.`;
  }
  // A message could persuade an agent outside to do what the sender's own containment refuses.
  if (right !== "list" && right !== "spawn" && isContained(asker) && !isContained(target)) {
    return `${asker.id} is contained and ${target.id} is not: it has no access.`;
  }
  if (target.isShell === true) return `${target.id} is a shell, which only the user may use.`;
  if (right === "own" && target.id !== asker.id)
    return `${asker.id} may do this for itself only, not for ${target.id}.`;
  return null;
}

export interface SpawnWish {
  role: string;
  isShell: boolean;
  /** Reuse the issue's existing session. */
  resume: boolean;
  /** Starts from a commit or branch of its choice. */
  from: boolean;
}

/** Why an agent may not spawn this, or null. */
export function spawnRefusal(asker: Asker, { role, isShell, resume, from }: SpawnWish): string | null {
  if (isShell) return `${asker.id} is an agent: it may start workers, not a shell.`;
  if (role !== "worker") return `${asker.id} is an agent: it may start workers, not another orchestrator.`;
  if (resume) return `${asker.id} is an agent: it may start new workers; only the user may restore a session.`;
  // postCreate commands run outside the containment, on files of that commit.
  if (isContained(asker) && from) {
    return `${asker.id} is a contained agent: its workers start from the project's default branch.`;
  }
  return null;
}
