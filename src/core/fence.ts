/**
 * What an agent may ask of the daemon when it calls it under its own session's name: to spawn, list, message and read
 * sessions of its own project, and nothing of another's. What ends or removes something is a person's to say. It keeps
 * a well-meaning agent in its room; it is no wall against a program that runs as the same user.
 */
import type { RouteName } from "../protocol/http.ts";
import type { ProjectId } from "../protocol/ids.ts";

export type Fence =
  /** About no session: the daemon itself. */
  | "open"
  /** About one session, which must be of the project. */
  | "session"
  /** A list, of which only the project's part is given. */
  | "list"
  /** A new session, which must be the project's, and a worker. */
  | "spawn";

/** Whatever is not here is a person's. */
const fences: Partial<Record<RouteName, Fence>> = {
  health: "open",
  info: "open",
  sessions: "list",
  projects: "list",
  session: "session",
  events: "session",
  screen: "session",
  queue: "session",
  primer: "session",
  acpLogs: "session",
  prompt: "session",
  changes: "session",
  patch: "session",
  files: "session",
  work: "session",
  spawn: "spawn",
};

export function fenceOf(route: RouteName): Fence | null {
  return fences[route] ?? null;
}

export interface Asker {
  id: string;
  project: ProjectId;
}

/** The sentence that refuses it, or null where it may. */
export function refusal(
  asker: Asker,
  route: RouteName,
  target: { project?: string | undefined; role?: string | undefined } | null,
): string | null {
  const fence = fenceOf(route);
  if (fence === null) {
    return `${asker.id} may spawn, list, message and read sessions of ${asker.project}; this is for a person to say.`;
  }
  if (fence === "open" || target?.project === undefined) return null;
  if (target.project !== asker.project) {
    return `${asker.id} belongs to ${asker.project} and has no say in ${target.project}.`;
  }
  if (fence === "spawn" && target.role !== undefined && target.role !== "worker") {
    return `${asker.id} may start workers, not ${target.role === "shell" ? "a shell" : "another orchestrator"}.`;
  }
  return null;
}
