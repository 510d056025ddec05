/** What an agent may ask of the daemon: the one table, for the daemon, for the API's description and for the docs. */
import type { RouteName } from "./http.ts";

export type AgentRight = "daemon" | "list" | "read" | "follow" | "message" | "spawn" | "own";

/** A route that is not here is the person's alone. */
export const agentRights: Partial<Record<RouteName, AgentRight>> = {
  health: "daemon",
  info: "daemon",
  openapi: "daemon",
  sessions: "list",
  projects: "list",
  session: "read",
  events: "read",
  transcript: "read",
  attachment: "read",
  screen: "read",
  queue: "read",
  primer: "read",
  acpLogs: "read",
  changes: "read",
  patch: "read",
  files: "read",
  work: "read",
  sse: "follow",
  stream: "follow",
  prompt: "message",
  spawn: "spawn",
  // By an id that only the caller of that spawn has.
  spawning: "daemon",
  claimPullRequest: "own",
};

/** Rows of the table in the docs. */
export const rightWords: Record<AgentRight, { may: string; limit: string }> = {
  daemon: { may: "Ask the daemon about itself", limit: "Health, version, API description, its own pending spawns" },
  list: { may: "List sessions and projects", limit: "Its own project; shells are left out" },
  read: {
    may: "Read a session: state, events, transcript, screen, prompts, changes",
    limit: "Sessions of its own project; never a shell; contained, only contained ones",
  },
  follow: {
    may: "Follow events",
    limit: "One session of its own project; never a shell; contained, only a contained one",
  },
  message: {
    may: "Send a message",
    limit:
      "To sessions of its own project; never a shell; contained, only to contained ones. Marked as an agent's message",
  },
  spawn: {
    may: "Start a worker",
    limit:
      "In its own project. No shell, no second orchestrator, no weaker containment than its own, no trust; contained, from the default branch",
  },
  own: { may: "Claim a pull request", limit: "For its own session" },
};
