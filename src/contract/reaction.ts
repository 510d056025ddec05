/** Automatic reactions to what happens to a session: names, settings, and their stored state. */

export const reactionNames = [
  "ci-failed",
  "changes-requested",
  "merge-conflict",
  "agent-idle",
  "approved-and-green",
  "needs-input",
  "turn-failed",
  "exited",
  "all-done",
] as const;
export type ReactionName = (typeof reactionNames)[number];

/** Whose word it is when a reaction sends a message. */
export const reactionActor = "reaction";

export type ReactionAction = "send-to-agent" | "notify" | "merge";

/** As a project's file has it. */
export interface ReactionSetting {
  action: ReactionAction;
  message?: string | undefined;
  retries?: number | undefined;
  enabled?: boolean | undefined;
}

export type ReactionSettings = { [R in ReactionName]?: ReactionSetting | undefined };

/** What was done about one kind of problem since it was last over. */
export interface ReactionHistory {
  /** What was reacted to, newest last: the same content is reacted to once. */
  keys: string[];
  attempts: number;
  /** Whether the user was notified that the problem persists. */
  escalated: boolean;
  at: number;
}

/** Whether anything was done about it since it was last over. */
export function isOpen(history: ReactionHistory | undefined): boolean {
  return history !== undefined && (history.attempts > 0 || history.escalated);
}

/** Keys that are remembered; one that is older than these came back after a long time. */
export const rememberedKeys = 20;
