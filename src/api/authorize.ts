/** What an agent that calls the daemon may do: the `who` of each operation, within the agent's own project. */
import type { Containment } from "../contract/containment.ts";
import { HoldfastError } from "../contract/errors.ts";
import { type Actor, asSessionId, type ProjectId } from "../contract/ids.ts";
import { operation, type OperationName } from "../contract/operations.ts";
import { includes, rightWords, type Right } from "../contract/rights.ts";
import type { SpawnRequest } from "../contract/spawn.ts";
import { quoteBlock, inert } from "../model/text.ts";
import type { SessionState } from "../model/session.ts";
import { isShell } from "../model/roles.ts";
import type { ApiRequest, Authorize, Call } from "../ports/api.ts";
import type { ProjectSettings } from "../ports/projects.ts";
import { isShellSession, startOf } from "../supervisor/callers/callers.ts";
import type { Services } from "../supervisor/services.ts";

const prefix = "session:";

type Known = Pick<Services, "store" | "agents">;

/** Refuses an agent what its rights do not include; the user may do everything. */
export function createAuthorize(parts: Known): Authorize {
  return (call) => {
    const asker = askingAgent(parts, call.actor);
    if (asker === null) return;
    const why = refusal(asker, call.name, targetOf(parts, call));
    if (why !== null) throw refused(why);
  };
}

/** Keeps what an agent may see: its own project and its sessions, without shells. The user sees all. */
export function visibleTo<T extends { id: string; project?: string }>(
  parts: Known,
  actor: Actor,
  all: readonly T[],
): T[] {
  const asker = askingAgent(parts, actor);
  if (asker === null) return [...all];
  return all.filter(({ id, project = id }) => project === asker.project && sessionTarget(parts, id)?.isShell !== true);
}

/** The agent that asks; null for the person, also in a shell, and for what Holdfast does by itself. */
export function askingAgent(parts: Known, actor: Actor): SessionState | null {
  if (!actor.startsWith(prefix)) return null;
  const id = actor.slice(prefix.length);
  const session = parts.store.session(asSessionId(id));
  // A session that is gone speaks for nobody.
  if (session === null) throw new HoldfastError("forbidden", `Unknown session: ${id}`);
  return isShellSession(parts, session) ? null : session;
}

/**
 * A spawn as an agent may ask for it: what it may not have is refused or taken away here, and nowhere else. The task comes
 * from an agent, and says so.
 *
 * @param wish what the request comes to with the project's defaults.
 */
export function clampSpawn(
  parts: Known,
  request: SpawnRequest,
  wish: Pick<SessionState, "role" | "agent">,
  actor: Actor,
): SpawnRequest {
  const agent = askingAgent(parts, actor);
  if (agent === null) return request;
  const start = parts.agents.of({ project: request.project, agent: wish.agent })?.terminal?.start ?? null;
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

/** Throws where an issue's text would be typed into a shell, which would run it. */
export function refuseIssueInShell(
  parts: Pick<Services, "agents">,
  settings: Pick<ProjectSettings, "id" | "tracker">,
  { issue }: Pick<SpawnRequest, "issue">,
  { role, kind, agent }: Pick<SessionState, "role" | "kind" | "agent">,
): void {
  // In any other role, or without a tracker, nobody reads the issue.
  if (issue === undefined || role !== "worker" || settings.tracker === null) return;
  if (!isShell({ role, agent }, startOf(parts, { project: settings.id, agent, kind }))) return;
  throw new HoldfastError("invalid", `The agent ${agent} is a shell, which would run the text of issue ${issue}.`, {
    hint: "Choose another agent with --agent, or leave out the issue. Nothing was created.",
  });
}

/** The right that a device needs to talk to a session: a shell runs every word. */
export function promptRight(parts: Known, session: SessionState): Right {
  return isShellSession(parts, session) ? "all" : "answer";
}

/** Throws where a device may not talk to this session. */
export function checkMayPrompt(
  parts: Known,
  session: SessionState,
  { device }: Pick<ApiRequest<OperationName>, "device">,
): void {
  if (device === undefined || includes(device.rights, promptRight(parts, session))) return;
  throw new HoldfastError("forbidden", `${session.id} is a shell; this device ${rightWords[device.rights]}.`, {
    hint: `On a device with all rights, change it under Settings, Devices. Or run \`holdfast device rights ${device.id} all\`.`,
  });
}

/** A prompt's text as the session gets it: an agent's is marked, the person's own words are left alone. */
export function promptText(parts: Known, text: string, actor: Actor): string {
  const agent = askingAgent(parts, actor);
  return agent === null ? text : agentMessage(agent.id, text);
}

function refused(why: string): HoldfastError {
  return new HoldfastError("forbidden", why, { hint: "Ask the user to run this command." });
}

function targetOf(parts: Known, call: Call): Target | null {
  if (call.name === "spawn") return { project: call.input.project };
  if (call.name === "sessions") return { project: call.query.project };
  if (call.name === "stream" || call.name === "sse") return sessionTarget(parts, call.query.session);
  // The handler reports an unknown session. The id of a pending spawn is not a session's.
  return call.name !== "spawning" && "id" in call.params ? sessionTarget(parts, call.params.id) : null;
}

function sessionTarget(parts: Known, id: string | undefined): Target | null {
  const session = parts.store.session(asSessionId(id ?? ""));
  return session === null
    ? null
    : {
        id: session.id,
        project: session.project,
        isShell: isShellSession(parts, session),
        ...(session.contain === undefined ? {} : { contain: session.contain }),
      };
}

/** A message from one agent to another: marked and quoted, so that it is not mistaken for the user's own words. */
export function agentMessage(from: string, text: string): string {
  return `Message from session ${from} (an agent, not the person):\n\n${quoteBlock(inert(text), "message")}`;
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
