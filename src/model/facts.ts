/** What a decision is made of. Gathered by supervisor/observe.ts; nothing here reads a clock, a disk or a process. */
import type { EndedHow, ExitStatus, LaunchHow, PromptId } from "../contract/ids.ts";
import type { SessionState } from "./session.ts";

/** `unknown` is not `absent`: nothing destructive may follow from it. */
export type Observed<T> = { is: "known"; value: T } | { is: "absent" } | { is: "unknown"; why: string };

export interface RuntimeFacts {
  launch: string;
  agent: { alive: true } | { alive: false; exit: ExitStatus | null };
  activity: "working" | "idle" | "needs_input" | null;
  /** What a terminal agent asks, where its hook or screen shows that. */
  asks?: string | null;
  lastLines: string[];
  /**
   * The record never named this launch: the database is older than it (a backup was put back, or its last writes were
   * lost). An older launch that was superseded is on record.
   */
  unrecorded?: boolean;
  /** A terminal agent that has not shown yet that it can take a prompt. */
  starting?: boolean;
  /** A dead launch of which nothing ever ran: its daemon died before it started the agent. */
  neverStarted?: boolean;
  /** A chat agent that lives but can no longer be spoken to. */
  deaf?: boolean;
  /** A chat agent of another build than would be launched now. */
  stale?: boolean;
}

export interface SessionFacts {
  session: SessionState;
  runtime: Observed<RuntimeFacts>;
  /** With an absent runtime or a dead agent: what proves that it is gone, or null where nothing does. */
  absence: "other-boot" | "no-server" | "identity-gone" | "stopped" | null;
  /** Whether the worktree's directory is there. */
  workspace: Observed<true>;
  /** False after `start --no-restore`: what a reboot took is then left down. */
  restoreLost: boolean;
  /** Whether the agent has a way back into a conversation. */
  canResume: boolean;
  /** Most of the board looks dead without a proven cause: look again at this time before concluding anything. */
  recheckAt: number | null;
  /**
   * Whether the trash holds the worktree although the record says `ready`: a crash came between the move and its record.
   * Only worth asking when the directory is missing.
   */
  workspaceInTrash?: boolean;
  /** With `workspaceInTrash`: whether it was moved there by a kill that is not on record, because the record is older. */
  trashedUnrecorded?: boolean;
  /** Whether commands that make the worktree still run. Only worth asking when it is wanted no more. */
  isCreating?: boolean;
  /** Whether the agent's program can be launched, and since when it cannot. Only worth asking before a launch. */
  program?: { is: "found" } | { is: "missing"; why: string; since: number };
  /** A person asked for the chat agent to be started anew, without a change of intent. */
  restartRequested?: boolean;
}

/**
 * `superseded`: of another launch than the expected one. `leftover`: its agent has ended, the rest of it has not.
 * `deaf`, `stale` and `restart`: to be replaced by a new launch of the same conversation. `convert`: the other kind follows.
 */
export type StopReason =
  | "wanted-down"
  | "killed"
  | "deleted"
  | "superseded"
  | "leftover"
  | "deaf"
  | "stale"
  | "restart"
  | "convert";

export type Action =
  | { do: "create-workspace" }
  /** The worktree that is being made is wanted no more: ends the commands that make it. */
  | { do: "cancel-create" }
  | { do: "restore-workspace" }
  | { do: "launch"; how: LaunchHow; attempt: number }
  /** The launch that is expected was found alive: record it, and for a chat agent read on. */
  | { do: "adopt" }
  /** A launch was found that the record never named: write it down, and never end it unseen. */
  | { do: "adopt-unrecorded" }
  /** The record lost a kill or delete: write down that the session has ended. */
  | { do: "stay-ended" }
  | { do: "deliver"; prompt: PromptId }
  /** A prompt was being sent when something died: look, never repeat. */
  | { do: "settle-prompt"; prompt: PromptId }
  | { do: "settle-turn"; as: "orphaned_at_restart" }
  | { do: "record-end"; how: EndedHow; exit: ExitStatus | null; lastLines: string[] }
  | { do: "reset-context"; why: string }
  | { do: "stop"; why: StopReason }
  /** Nothing of it runs: it becomes the other kind. */
  | { do: "convert" }
  | { do: "remove-workspace" }
  | { do: "wake" }
  | { do: "wait"; until: number; why: string };
