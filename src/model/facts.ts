/** The facts behind a decision. Gathered by supervisor/observe.ts; nothing here reads a clock, a disk or a process. */
import type { EndedHow, ExitStatus, LaunchHow, PromptId } from "../contract/ids.ts";
import type { SessionState } from "./session.ts";

/** `unknown` is not `absent`: nothing destructive may follow from it. */
export type Observed<T> = { is: "known"; value: T } | { is: "absent" } | { is: "unknown"; why: string };

export interface RuntimeFacts {
  launch: string;
  agent: { alive: true } | { alive: false; exit: ExitStatus | null };
  activity: "working" | "idle" | "needs_input" | null;
  /** What a terminal agent asks, if its hook or screen shows it. */
  asks?: string | null;
  lastLines: string[];
  /**
   * The record never named this launch: the database is older (a backup was restored, or its last writes were lost). A
   * superseded launch is on record.
   */
  unrecorded?: boolean;
  /** A terminal agent that is not ready for a prompt yet. */
  starting?: boolean;
  /** A dead launch that never ran: its daemon died before starting the agent. */
  neverStarted?: boolean;
  /** A running chat agent that can no longer receive input. */
  deaf?: boolean;
  /** A chat agent of another build than would be launched now. */
  stale?: boolean;
}

export interface SessionFacts {
  session: SessionState;
  runtime: Observed<RuntimeFacts>;
  /** With an absent runtime or a dead agent: the proof that it is gone, or null without one. */
  absence: "other-boot" | "no-server" | "identity-gone" | "stopped" | null;
  /** Whether the worktree's directory exists. */
  workspace: Observed<true>;
  /** False after `start --no-restore`: sessions lost to a reboot stay down. */
  restoreLost: boolean;
  /** Whether the agent can resume a conversation. */
  canResume: boolean;
  /** Most of the board looks dead without a proven cause: check again at this time before concluding anything. */
  recheckAt: number | null;
  /**
   * Whether the worktree is in the trash although the record has `ready`: a crash came between the move and its record.
   * Checked only if the directory is missing.
   */
  workspaceInTrash?: boolean;
  /** With `workspaceInTrash`: whether a kill moved it there that the older record does not have. */
  trashedUnrecorded?: boolean;
  /** Whether commands that create the worktree still run. Checked only once it is no longer needed. */
  isCreating?: boolean;
  /** Whether the agent's program can be launched, and since when it cannot. Checked only before a launch. */
  program?: { is: "found" } | { is: "missing"; why: string; since: number };
  /** The user requested a restart of the chat agent, without a change of intent. */
  restartRequested?: boolean;
}

/**
 * `superseded`: another launch than the expected one. `leftover`: its agent exited, other processes of it did not.
 * `deaf`, `stale` and `restart`: replaced by a new launch of the same conversation. `convert`: the other kind follows.
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
  /** The worktree is no longer needed: stops the commands that create it. */
  | { do: "cancel-create" }
  | { do: "restore-workspace" }
  | { do: "launch"; how: LaunchHow; attempt: number }
  /** The expected launch is alive: record it, and continue reading a chat agent's output. */
  | { do: "adopt" }
  /** Found a launch that the record never named: record it, and never stop it silently. */
  | { do: "adopt-unrecorded" }
  /** The record lost a kill or delete: record that the session has ended. */
  | { do: "stay-ended" }
  | { do: "deliver"; prompt: PromptId }
  /** A crash happened while a prompt was being sent: check, never repeat. */
  | { do: "settle-prompt"; prompt: PromptId }
  | { do: "settle-turn"; as: "orphaned_at_restart" }
  | { do: "record-end"; how: EndedHow; exit: ExitStatus | null; lastLines: string[] }
  | { do: "reset-context"; why: string }
  | { do: "stop"; why: StopReason }
  /** Nothing of it runs: convert it to the other kind. */
  | { do: "convert" }
  | { do: "remove-workspace" }
  | { do: "wake" }
  | { do: "wait"; until: number; why: string };
