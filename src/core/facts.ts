/** What a decision is made of. Gathered by daemon/observe.ts; nothing here reads a clock, a disk or a process. */
import type { PromptId } from "../protocol/ids.ts";
import type { EndedHow, ExitStatus, LaunchHow, SessionState } from "../protocol/session.ts";

/** `unknown` is not `absent`: nothing destructive may follow from it. */
export type Observed<T> = { is: "known"; value: T } | { is: "absent" } | { is: "unknown"; why: string };

export interface RuntimeFacts {
  launch: string;
  agent: { alive: true } | { alive: false; exit: ExitStatus | null };
  activity: "working" | "idle" | "needs_input" | null;
  lastLines: string[];
  /** A chat agent that lives but can no longer be spoken to. */
  deaf?: boolean;
  /** A chat agent of another build than would be launched now. */
  stale?: boolean;
}

export interface SessionFacts {
  session: SessionState;
  runtime: Observed<RuntimeFacts>;
  /** With an absent runtime: what proves that it is gone, or null where nothing does. */
  absence: "other-boot" | "no-server" | "identity-gone" | null;
  /** Whether the worktree's directory is there. */
  workspace: Observed<true>;
  /** False after `start --no-restore`: what a reboot took is then left down. */
  restoreLost: boolean;
  /** Whether the agent has a way back into a conversation. */
  canResume: boolean;
  /** Most of the board looks dead without a proven cause: look again at this time before concluding anything. */
  lookAgainAt: number | null;
  /** Whether a send of this session is going on right now: a prompt in `sending` is then not an interrupted one. */
  sendInProgress?: boolean;
  /**
   * Whether the trash holds the worktree although the record says `ready`: a crash came between the move and its record.
   * Only worth asking when the directory is missing.
   */
  workspaceInTrash?: boolean;
  /** Whether commands that make the worktree still run. Only worth asking when it is wanted no more. */
  beingMade?: boolean;
  /** A person asked for the chat agent to be started anew, without a change of intent. */
  restartAsked?: boolean;
}

/**
 * `superseded`: of another launch than the expected one. `leftover`: its agent has ended, the rest of it has not.
 * `deaf`, `stale` and `restart`: to be replaced by a new launch of the same conversation.
 */
export type StopReason =
  | "wanted-down"
  | "killed"
  | "deleted"
  | "superseded"
  | "leftover"
  | "deaf"
  | "stale"
  | "restart";

export type Action =
  | { do: "create-workspace" }
  /** The worktree that is being made is wanted no more: ends the commands that make it. */
  | { do: "end-making" }
  | { do: "restore-workspace" }
  | { do: "launch"; how: LaunchHow; attempt: number }
  /** The launch that is expected was found alive: record it, and for a chat agent read on. */
  | { do: "adopt" }
  | { do: "deliver"; prompt: PromptId }
  /** A prompt was being sent when something died: look, never repeat. */
  | { do: "settle-prompt"; prompt: PromptId }
  | { do: "settle-turn"; as: "orphaned_at_restart" }
  | { do: "record-end"; how: EndedHow; exit: ExitStatus | null; lastLines: string[] }
  | { do: "reset-context"; why: string }
  | { do: "stop"; why: StopReason; force: boolean }
  | { do: "remove-workspace" }
  | { do: "wake" }
  | { do: "wait"; until: number; why: string };
