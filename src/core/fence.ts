/**
 * What an agent may ask of the daemon when it calls it under its own session's name: to spawn, list, message and read
 * sessions of its own project, and nothing of another's; of itself it may say which pull request it made. What ends or removes something is a person's to say. It keeps
 * a well-meaning agent in its room; it is no wall against a program that runs as the same user.
 */
import type { RouteName } from "../protocol/http.ts";
import type { ProjectId } from "../protocol/ids.ts";

export type Fence =
  /** About no session: the daemon itself. */
  | "open"
  /** About one session, which must be of the project. */
  | "session"
  /** About the asker's own session. */
  | "own"
  /** Of one session, which must be named: without a name it would be of all projects. */
  | "follow"
  /** A list, of which only the project's part is given. */
  | "list"
  /** A new session, which must be the project's, and a worker. */
  | "spawn";

/** Whatever is not here is a person's. */
const fences: Partial<Record<RouteName, Fence>> = {
  health: "open",
  info: "open",
  openapi: "open",
  sessions: "list",
  projects: "list",
  session: "session",
  events: "session",
  transcript: "session",
  attachment: "session",
  sse: "follow",
  stream: "follow",
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
  // By an id that only who spawned has.
  spawning: "open",
  claimPullRequest: "own",
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
  target: { id?: string; project?: string | undefined; role?: string | undefined } | null,
): string | null {
  const fence = fenceOf(route);
  if (fence === null) {
    return `${asker.id} may spawn, list, message and read sessions of ${asker.project}; this is for a person to say.`;
  }
  if (fence === "follow" && target === null) return `${asker.id} may follow one session of ${asker.project} at a time.`;
  if (fence === "open" || target?.project === undefined) return null;
  if (target.project !== asker.project) {
    return `${asker.id} belongs to ${asker.project} and has no say in ${target.project}.`;
  }
  if (fence === "own" && target.id !== asker.id) return `${asker.id} may say this of itself, not of ${target.id}.`;
  if (fence === "spawn" && target.role !== undefined && target.role !== "worker") {
    return `${asker.id} may start workers, not ${target.role === "shell" ? "a shell" : "another orchestrator"}.`;
  }
  return null;
}
