/** Whether an agent may ask something, by the table of contract/agent-rights.ts and by what the request is about. */
import { agentRights, type AgentRight } from "../contract/agent-rights.ts";
import type { RouteName } from "../contract/http.ts";
import type { Containment } from "../contract/containment.ts";
import type { ProjectId } from "../contract/ids.ts";

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

/** Null: a person's alone. */
export function rightOf(route: RouteName): AgentRight | null {
  return agentRights[route] ?? null;
}

/** The sentence that refuses it, or null where it may. */
export function refusal(asker: Asker, route: RouteName, target: Target | null): string | null {
  const right = rightOf(route);
  if (right === null) {
    return `${asker.id} is an agent: it may spawn, list, message and read sessions of ${asker.project}. Only a person may do this.`;
  }
  if (right === "follow" && target === null) return `${asker.id} may follow one session of ${asker.project} at a time.`;
  if (right === "daemon" || target?.project === undefined) return null;
  if (target.project !== asker.project) {
    return `${asker.id} belongs to ${asker.project}; it has no access to ${target.project}.`;
  }
  // Text persuades: an agent outside would do for it what its own containment refuses.
  if (right !== "list" && right !== "spawn" && isContained(asker) && !isContained(target)) {
    return `${asker.id} is contained and ${target.id} is not: it has no access to it.`;
  }
  if (target.isShell === true) return `${target.id} is a shell, which only a person may use.`;
  if (right === "own" && target.id !== asker.id)
    return `${asker.id} may do this for itself only, not for ${target.id}.`;
  return null;
}

export interface SpawnWish {
  role: string;
  isShell: boolean;
  /** Take up the session that an issue already has. */
  resume: boolean;
  /** A commit or branch of its choice to start from. */
  from: boolean;
}

/** Why an agent may not spawn this, or null. */
export function spawnRefusal(asker: Asker, { role, isShell, resume, from }: SpawnWish): string | null {
  if (isShell) return `${asker.id} is an agent: it may start workers, not a shell.`;
  if (role !== "worker") return `${asker.id} is an agent: it may start workers, not another orchestrator.`;
  if (resume) return `${asker.id} is an agent: it may start new workers; only a person may restore a session.`;
  // postCreate commands run outside of the containment, on files of that commit.
  if (isContained(asker) && from) {
    return `${asker.id} is a contained agent: its workers start from the project's default branch.`;
  }
  return null;
}
