/**
 * What is stored of a session. It is a fold of the session's events (see reduce.ts) and of nothing else;
 * status is computed from it and from what is observed, and is never stored.
 */
import type { LaunchId, ProjectId, PromptId, SessionId, TrashId } from "./ids.ts";
import type { ReactionHistory, ReactionName } from "./reaction.ts";
import type { SeenIssue, SeenPullRequest } from "./tracker.ts";

export const kinds = ["terminal", "chat"] as const;
export type Kind = (typeof kinds)[number];

export const roles = ["worker", "orchestrator", "shell"] as const;
export type Role = (typeof roles)[number];

/** Who changed something: `person`, a policy's name (`cleanup`, `idle-stop`, `snooze-timer`), or `session:<id>`. */
export type Actor = string;

/** What the person wants. Changed by a verb or a policy the person set, never derived from what is observed. */
export type Want =
  | { want: "running" }
  | { want: "stopped" }
  | { want: "snoozed"; until: number }
  | { want: "archived" }
  /** Left only by a person's explicit restore. */
  | { want: "killed" }
  /** Left by nothing. */
  | { want: "deleted" };
/** `seq` is the event that wrote it: order is told by sequence, because clocks can be set back. */
export type Intent = Want & { by: Actor; at: number; seq: number };
export type IntentName = Want["want"];

/** A process, told apart from a later one with the same pid. */
export interface ProcessIdentity {
  bootId: string;
  pid: number;
  /** Field 22 of /proc/<pid>/stat, in clock ticks since boot, as text. */
  startTime: string;
}

export interface ExitStatus {
  code: number | null;
  signal: string | null;
}

/** How the latest launch ended: by its own exit 0, by a crash, by our stop, or lost with the machine or tmux server. */
export type EndedHow = "own-exit" | "crash" | "stopped" | "lost";

/** Facts about the latest launch. */
export type Run =
  | { run: "none" }
  | { run: "launching"; launch: LaunchId; attempt: number; how: LaunchHow; at: number }
  | { run: "up"; launch: LaunchId; at: number; agent: ProcessIdentity | null }
  | {
      run: "ended";
      launch: LaunchId;
      how: EndedHow;
      exit: ExitStatus | null;
      at: number;
      uptimeMs: number | null;
      lastLines: string[];
      seq: number;
    }
  /** The launch itself did not work; nothing is tried again until the person says so. */
  | { run: "failed"; launch: LaunchId; reason: string; at: number; lastLines: string[]; seq: number };

export type LaunchHow = "fresh" | "resume";

/** Where the session's files are. `planned` is written before anything is created. */
export type Workspace =
  | { at: "planned" }
  | { at: "ready" }
  | { at: "trashed"; trash: TrashId }
  /** Removed for good (trash emptied), or never made. */
  | { at: "gone"; reason: string };

/** One exchange with a chat agent. */
export type Turn =
  | { turn: "none" }
  /** `prompt` is null in a turn that the agent started itself. */
  | { turn: "open"; prompt: PromptId | null; startedAt: number; answerMayBeLost: boolean; cancelling?: boolean }
  | { turn: "ended"; stopReason: string; at: number };

export interface QueuedPrompt {
  promptId: PromptId;
  admittedAt: number;
  admittedSeq: number;
  /** The event that has its text, where that is not the one that admitted it. */
  editedSeq?: number;
  /** `sending` is written before the text is typed or appended; a crash there is settled by looking, not by repeating. */
  state: "queued" | "sending";
}

/** One way to answer a permission request; chosen by `kind`, because order and ids differ between agents. */
export interface PermissionOption {
  optionId: string;
  name: string;
  kind: string;
}

/** A question of the agent that waits for a person, however long. */
export interface OpenPermission {
  /** Unique across launches. */
  requestId: string;
  title: string;
  options: PermissionOption[];
}

/** What somebody chose for a chat agent; most agents forget it when they end, so it is applied again. */
export interface Picks {
  mode?: string;
  model?: string;
  config: Record<string, string>;
}

export const activities = ["working", "idle", "needs_input"] as const;
export type Activity = (typeof activities)[number];

export interface SessionState {
  id: SessionId;
  project: ProjectId;
  kind: Kind;
  role: Role;
  agent: string;
  title: string;
  issue: string | null;
  branch: string;
  /** Whether the session made the branch: a branch it did not make is never touched. */
  branchCreated: boolean;
  base: string;
  workspacePath: string;
  workspace: Workspace;
  intent: Intent;
  run: Run;
  turn: Turn;
  queue: QueuedPrompt[];
  /** Open questions of a chat agent, oldest first. */
  permissions: OpenPermission[];
  picks: Picks;
  agentSessionId: string | null;
  /** When the chat conversation began: one agent must not be resumed in that same minute. */
  conversationSince: number | null;
  /** Whether the agent's conversation ever got a prompt: one that did not cannot be resumed. */
  prompted: boolean;
  /** What the agent was last seen doing; null while it is down. */
  activity: { activity: Activity; source: string; at: number } | null;
  /** Times of the latest crashes, newest last; the crash budget looks at these. */
  crashes: number[];
  /** Resume attempts in a row that failed; at three the conversation is started afresh, with a notice. */
  resumeFailures: number;
  /** The one that counts: an open one before a merged one before a closed one, the newest of these. */
  pullRequest: { url: string; state: string } | null;
  /** Left out of sessions that never had one, as are the next three. */
  pullRequests?: SeenPullRequest[];
  issueSeen?: SeenIssue;
  reactions?: { [R in ReactionName]?: ReactionHistory };
  /** Notifications that somebody outside of the dashboard is still to be told of. */
  untold?: string[];
  createdAt: number;
  lastActivityAt: number;
  /** Sequence of the last event folded in. */
  seq: number;
}

/** Statuses in the order of section 3.0 of the spec. Computed, never stored. */
export const statuses = [
  "starting",
  "working",
  "needs_input",
  "idle",
  "stuck",
  "unknown",
  "failed",
  "pr_open",
  "ci_failed",
  "review_pending",
  "changes_requested",
  "approved",
  "mergeable",
  "merged",
  "stopped",
  "snoozed",
  "archived",
  "exited",
  "done",
  "killed",
] as const;
export type Status = (typeof statuses)[number];

const terminated: ReadonlySet<Status> = new Set<Status>(["archived", "exited", "done", "killed"]);

/** Whether `session ls` hides a session of this status unless asked. */
export function isTerminated(status: Status): boolean {
  return terminated.has(status);
}
