/** Checks of a spawn, which a preflight runs too: settings, agent, limits, containment, tools, disk. */
import { existsSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { findLaunchable, findProgram } from "../base/find-program.ts";
import { atLeast, withWish, type Containment } from "../contract/containment.ts";
import { HoldfastError, type ErrorDetails } from "../contract/errors.ts";
import { asSessionId, type Actor, type Kind, type SessionId } from "../contract/ids.ts";
import type { SpawnRequest } from "../contract/spawn.ts";
import { isOff } from "../contract/trust.ts";
import { isIssueOf, teamOf } from "../model/issue.ts";
import { branchFor, slug } from "../model/names.ts";
import { orchestratorOf, wantsToRun } from "../model/roles.ts";
import { notOnPath } from "../model/runs.ts";
import type { SessionState } from "../model/session.ts";
import type { AgentDefinition } from "../ports/agents.ts";
import type { ProjectSettings } from "../ports/projects.ts";
import { refuseBeside } from "../supervisor/apply-verb.ts";
import { commandOf, pathFor, whyMissing } from "../supervisor/programs.ts";
import type { Services } from "../supervisor/services.ts";
import { askingAgent } from "./authorize.ts";
import { findProject } from "./find.ts";

const minFreeBytes = 200 * 1024 * 1024;

/**
 * Spawns between their checks and their record: two at the same time must not pass the same limit or choose the same id.
 * Also those that a caller waits for.
 */
interface PendingSpawn {
  project: string;
  role: SessionState["role"];
  id: string | null;
}

export class PendingSpawns {
  readonly #pending = new Set<PendingSpawn>();
  readonly #awaited = new Map<string, SessionId>();

  /** Counts a spawn until its session is recorded or refused. */
  enter(project: string, role: SessionState["role"]): { choose: (id: string) => void } & Disposable {
    const spawn: PendingSpawn = { project, role, id: null };
    this.#pending.add(spawn);
    return {
      choose: (id) => void (spawn.id = id),
      [Symbol.dispose]: () => void this.#pending.delete(spawn),
    };
  }

  /** Until the caller has the response, the session can be found by the id of their request. */
  await(request: string | undefined, session: SessionId): Disposable {
    if (request !== undefined) this.#awaited.set(request, session);
    return { [Symbol.dispose]: () => void (request !== undefined && this.#awaited.delete(request)) };
  }

  awaited(request: string): SessionId | null {
    return this.#awaited.get(request) ?? null;
  }

  isChosen(id: string): boolean {
    return [...this.#pending].some((spawn) => spawn.id === id);
  }

  of(project: string): readonly Pick<PendingSpawn, "role">[] {
    return [...this.#pending].filter((spawn) => spawn.project === project);
  }
}

export function settingsOf(services: Pick<Services, "store" | "settings">, project: string): Promise<ProjectSettings> {
  return services.settings.read(findProject(services, project));
}

/** The requested values, or the project's defaults. */
export function requested(
  settings: ProjectSettings,
  request: SpawnRequest,
): { role: SessionState["role"]; kind: Kind; agent: string } {
  const agent = request.role === "shell" ? "shell" : (request.agent ?? settings.agent);
  // The agent `shell` implies the role: no issue and no reaction is typed there.
  const role = agent === "shell" && request.role === undefined ? "shell" : (request.role ?? "worker");
  if (role === "shell")
    return { role, kind: (request.role === undefined ? request.kind : undefined) ?? "terminal", agent };
  return { role, kind: request.kind ?? settings.kind, agent };
}

/** Throws if the project runs as many sessions as it may. */
export function checkLimits(
  services: Pick<Services, "store">,
  settings: ProjectSettings,
  role: SessionState["role"],
  pending: PendingSpawns | null,
): void {
  const begun = pending?.of(settings.id) ?? [];
  if (role === "orchestrator") {
    refuseBeside(orchestratorOf(services.store.sessions(), settings.id));
    if (begun.some((spawn) => spawn.role === "orchestrator")) {
      throw new HoldfastError("conflict", `An orchestrator of ${settings.id} is being started.`, {
        hint: "See it with holdfast session ls --all.",
      });
    }
  }
  const running = services.store.sessions().filter((session) => session.project === settings.id && wantsToRun(session));
  const count = running.length + begun.length;
  if (settings.maxSessions !== null && count >= settings.maxSessions) {
    throw new HoldfastError("conflict", `${settings.id} already runs ${count} sessions, its maxSessions.`, {
      hint: "Stop one (holdfast session stop <id>) or raise maxSessions in holdfast.yaml.",
    });
  }
}

export function agentFor(
  services: Pick<Services, "agents">,
  settings: ProjectSettings,
  id: string,
  kind: Kind,
): AgentDefinition {
  const definition = services.agents.of({ project: settings.id, agent: id });
  if (definition === null) {
    const known = services.agents
      .list(settings.id)
      .map((agent) => agent.id)
      .join(", ");
    const untrusted = isOff(settings.trust.state)
      ? ` The project's holdfast.yaml, which may define it, is not trusted: holdfast project trust ${settings.id}`
      : "";
    throw new HoldfastError("invalid", `Unknown agent: ${id}`, { hint: `Known agents: ${known}.${untrusted}` });
  }
  if (definition[kind] === null) {
    throw new HoldfastError("invalid", `${definition.label} has no ${kind} kind.`, {
      hint: `Try --kind ${kind === "chat" ? "terminal" : "chat"}.`,
    });
  }
  return definition;
}

export function idOfIssue(
  services: Pick<Services, "store">,
  settings: ProjectSettings,
  issue: string,
  pending: PendingSpawns | null,
  isTaken: (id: string) => boolean = () => false,
): { id: SessionId; again: number } {
  const first = `${settings.prefix}-${slug(issue)}`;
  for (let again = 1; ; again++) {
    const id = again === 1 ? first : `${first}-${again}`;
    if (!services.store.wasUsed(id) && !isTaken(id) && pending?.isChosen(id) !== true)
      return { id: asSessionId(id), again };
  }
}

export function sessionOfIssue(
  services: Pick<Services, "store">,
  settings: ProjectSettings,
  issue: string | undefined,
): SessionState | null {
  if (issue === undefined) {
    throw new HoldfastError("usage", "--resume needs the issue whose session to reuse.", {
      hint: "For example: holdfast spawn my-app 123 --resume",
    });
  }
  const team = teamOf(settings.tracker);
  const candidates = services.store
    .sessions()
    .filter((session) => session.project === settings.id && isIssueOf(session, issue, team))
    .toSorted((a, b) => a.createdAt - b.createdAt);
  const found = candidates.find((session) => session.intent.want !== "killed");
  const killed = candidates.at(-1);
  if (found !== undefined || killed === undefined) return found ?? null;
  throw new HoldfastError("conflict", `The session of ${issue}, ${killed.id}, was killed.`, {
    hint: `Bring it back with \`holdfast session restore ${killed.id}\`, or leave out --resume for a new one.`,
  });
}

type MissingPrograms = NonNullable<ErrorDetails["missingPrograms"]>;

/** @param env of the project: the agent's program is searched in its PATH, or in the agent's own. */
export function missingTools(definition: AgentDefinition, kind: Kind, env: ProjectSettings["env"]): MissingPrograms {
  const command = commandOf(definition, kind);
  const found = command === null ? null : findLaunchable(command, pathFor(definition, env));
  const { install } = kind === "chat" ? { ...definition, ...definition.chat } : definition;
  const tools = (kind === "terminal" ? ["tmux", "git"] : ["git"]).filter(
    (tool) => findProgram(tool, process.env["PATH"]) === null,
  );
  return [
    ...(found?.is === "missing"
      ? [{ program: found.program, message: `${whyMissing(found)}.${found.neededBy === null ? ` ${install}` : ""}` }]
      : []),
    ...tools.map((program) => ({ program, message: `${notOnPath(program)}. Install it with your package manager.` })),
  ];
}

/** Empty if the worktrees are on the same disk: their own preflight reports it then. */
export function lowDisk({ home, worktrees }: Pick<Services, "home" | "worktrees">): string[] {
  let existing = worktrees;
  while (!existsSync(existing)) existing = dirname(existing);
  if (statSync(home).dev === statSync(existing).dev) return [];
  const { bavail, bsize } = statfsSync(home);
  const free = bavail * bsize;
  return free >= minFreeBytes
    ? []
    : [
        `Only ${Math.round(free / 1024 / 1024)} MB are free on the disk of ${home}. Free some space, for example with \`holdfast trash empty\`.`,
      ];
}

/** The user gets what they request; an agent nothing less contained than its project and its own session. */
export function containmentFor(
  services: Pick<Services, "store" | "agents">,
  settings: ProjectSettings,
  request: SpawnRequest,
  actor: Actor,
): Containment {
  const agent = askingAgent(services, actor);
  // An agent cannot vouch for a repository.
  const wish = { ...request.contain, ...(agent === null ? {} : { trustDevcontainer: false }) };
  const asked = withWish(settings.contain, wish);
  const held = agent === null ? asked : atLeast(settings.contain, asked);
  const given = agent?.contain === undefined ? held : atLeast(agent.contain, held);
  if (given.mode === "off" && wish.network !== undefined && wish.network !== "on") {
    throw new HoldfastError("usage", "Only a contained session can be cut off from the network.", {
      hint: "Add --contain worktree.",
    });
  }
  return given;
}

/** Git renames a lock over a branch's ref, so the agent can write to the folder around it, which must contain nothing else. */
export async function containedBranch(
  { workspaces }: Pick<Services, "workspaces">,
  settings: ProjectSettings,
  of: { id: SessionId; asked: string | undefined; issue: string | null; title: string | null },
): Promise<string> {
  const { asked, id, issue, title } = of;
  if (asked === undefined) {
    const folder = await workspaces.freeBranch(settings.path, `holdfast/${id}`);
    const words = title === null || title === "" ? "work" : slug(title);
    return `${folder}/${issue === null ? words : branchFor({ session: id, issue, title, again: 1 })}`;
  }
  const folder = asked.split("/").slice(0, -1).join("/");
  if (folder !== "" && (await workspaces.freeBranch(settings.path, folder)) === folder) return asked;
  const why = folder === "" ? "is not in a folder" : `is next to other branches in ${folder}/, or exists already`;
  throw new HoldfastError("invalid", `A contained session needs a new branch in its own folder, and ${asked} ${why}.`, {
    hint: `Leave out --branch, or name one such as --branch ${id}/${slug(asked)}.`,
  });
}
