/** Rights of devices and of agents. Each operation names the ones it needs in its `who`. */

/**
 * Each includes the ones before it. `watch` reads. `answer` also talks to running agents: prompts, answers, cancelling,
 * typing. Everything else needs `all`.
 */
export const rights = ["watch", "answer", "all"] as const;
export type Right = (typeof rights)[number];

export function includes(has: Right, needed: Right): boolean {
  return rights.indexOf(has) >= rights.indexOf(needed);
}

/** What a device with this right may do, for a sentence that begins with the device. */
export const rightText: Record<Right, string> = {
  watch: "may only watch",
  answer: "may watch, prompt and answer",
  all: "may do everything",
};

export type AgentRight = "daemon" | "list" | "read" | "follow" | "message" | "spawn" | "own";

/** Rows of the table in the docs and in the API description. */
export const agentRights: Record<AgentRight, { may: string; limit: string }> = {
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
