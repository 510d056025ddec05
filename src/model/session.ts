/**
 * What is stored of a session. It is a fold of the session's events (see reduce.ts) and of nothing else;
 * status is computed from it and from what is observed, and is never stored.
 */
import type { Containment } from "../contract/containment.ts";
import type {
  Activity,
  Actor,
  EndedHow,
  ExitStatus,
  Kind,
  LaunchHow,
  LaunchId,
  PermissionOption,
  ProcessIdentity,
  ProjectId,
  PromptId,
  Role,
  SessionId,
  TrashId,
  Want,
} from "../contract/ids.ts";
import type { Asker } from "../contract/question.ts";
import type { ReactionHistory, ReactionName } from "../contract/reaction.ts";
import type { SeenIssue, SeenPullRequest } from "../contract/tracker.ts";

export { kinds, pullRequestStatuses, roles } from "../contract/ids.ts";
export type {
  Activity,
  Actor,
  Conversion,
  EndedHow,
  ExitStatus,
  Kind,
  LaunchHow,
  PermissionOption,
  ProcessIdentity,
  Role,
  Status,
  Want,
} from "../contract/ids.ts";

/** `seq` is the event that wrote it: order is told by sequence, because clocks can be set back. */
export type Intent = Want & { by: Actor; at: number; seq: number };
export type IntentName = Want["want"];

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
  /**
   * The launch itself did not work. With `retry` its program could not be started: it is launched again later, as it counts
   * as no crash. Otherwise nothing is tried again until the user asks for it.
   */
  | {
      run: "failed";
      launch: LaunchId;
      reason: string;
      at: number;
      lastLines: string[];
      seq: number;
      retry?: { attempt: number };
    };

/** Where the session's files are. `planned` is written before anything is created. */
export type Workspace =
  /** `failed`: why it could not be created. Nothing of it is left; the next intent to run tries again. */
  | { at: "planned"; failed?: string }
  | { at: "ready" }
  /** `branch` was checked out then, which need not be the one that the session began on. */
  | { at: "trashed"; trash: TrashId; branch?: string }
  /** Removed for good (trash emptied), or never made: then the next intent to run creates it. */
  | {
      at: "gone";
      reason: string;
      neverMade?: boolean;
      /** What is at its path belongs to this home, of which ours is a copy. */
      original?: string;
    };

/** One exchange with a chat agent. */
export type Turn =
  | { turn: "none" }
  /** `prompt` is null in a turn that the agent started itself. */
  | { turn: "open"; prompt: PromptId | null; startedAt: number; answerMayBeLost: boolean; cancelling?: boolean }
  /** `message` is the agent's or the adapter's own text, where it gave one. */
  | { turn: "ended"; stopReason: string; at: number; message?: string };

export interface QueuedPrompt {
  promptId: PromptId;
  admittedAt: number;
  admittedSeq: number;
  /** The event that has its text, where that is not the one that admitted it. */
  editedSeq?: number;
  /** `sending` is written before the text is typed or appended; a crash there is settled by looking, not by repeating. */
  state: "queued" | "sending";
}

/** A question of the agent that waits for a person, however long. */
export interface PermissionRequest {
  /** Unique in the session; contract/question.ts has the name that is shown. */
  requestId: string;
  title: string;
  options: PermissionOption[];
  /** Missing in questions of earlier builds, whose `requestId` names it. */
  asker?: Asker;
  /** The call it is about, where the agent named it, and the event that asked. */
  toolCallId?: string;
  seq?: number;
}

/** What somebody chose for a chat agent; most agents forget it when they end, so it is applied again. */
export interface Picks {
  mode?: string;
  model?: string;
  config: Record<string, string>;
}

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
  permissions: PermissionRequest[];
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
  /** A terminal agent crashed or was lost in the middle of a turn, and no turn has begun since. Absent otherwise. */
  cutTurn?: { how: "crash" | "lost"; at: number } | null;
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
  /** Left out of sessions that are not contained. */
  contain?: Containment;
  createdAt: number;
  lastActivityAt: number;
  /** Sequence of the last event folded in. */
  seq: number;
}
