/**
 * The stored state of a session: the reducer's result over its events (see reduce.ts) and nothing else. The status is
 * computed from it and from observations, and is never stored.
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
import type { Asker } from "../contract/permission-request.ts";
import type { ReactionHistory, ReactionName } from "../contract/reaction.ts";
import type { SessionJson } from "../contract/session.ts";
import type { SeenIssue, SeenPullRequest } from "../contract/tracker.ts";

/** `seq` is the event that wrote it: order follows the sequence, because clocks can be set back. */
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
   * The launch failed. With `retry` its program could not be started: it is launched again later and does not count as a
   * crash. Otherwise it is not retried until the user starts it again.
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
  /** `failed`: why it could not be created. Everything was rolled back; the next start tries again. */
  | { at: "planned"; failed?: string }
  | { at: "ready" }
  /** `branch` was checked out then; the session may have started on another one. */
  | { at: "trashed"; trash: TrashId; branch?: string }
  /** Removed permanently (trash emptied), or never created: then the next start creates it. */
  | {
      at: "gone";
      reason: string;
      neverMade?: boolean;
      /** The home that owns the worktree at its path; this home is a copy of it. */
      original?: string;
    };

/** One exchange with a chat agent. */
export type Turn =
  | { turn: "none" }
  /** `prompt` is null in a turn that the agent started itself. */
  | { turn: "open"; prompt: PromptId | null; startedAt: number; answerMayBeLost: boolean; cancelling?: boolean }
  /** `message`: the agent's or the adapter's own text, if any. */
  | { turn: "ended"; stopReason: string; at: number; message?: string };

export interface QueuedPrompt {
  promptId: PromptId;
  admittedAt: number;
  admittedSeq: number;
  /** The event that has its text, if it was edited. */
  editedSeq?: number;
  /** `sending` is written before the text is typed or appended; a crash there is settled by observation, not by resending. */
  state: "queued" | "sending";
}

/** A permission request that waits for the user, however long. */
export interface PermissionRequest {
  /** Unique in the session; contract/permission-request.ts has the name that is shown. */
  requestId: string;
  title: string;
  options: PermissionOption[];
  /** Missing in requests of earlier builds, whose `requestId` names it. */
  asker?: Asker;
  /** The tool call, if the agent named it, and the event of the request. */
  toolCallId?: string;
  seq?: number;
}

/** Settings chosen for a chat agent; most agents forget them when they exit, so they are applied again. */
export interface AgentSettings {
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
  /** Left out if it was never pinned. */
  pinned?: boolean;
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
  /** Open permission requests of a chat agent, oldest first. */
  permissions: PermissionRequest[];
  picks: AgentSettings;
  agentSessionId: string | null;
  /** When the chat conversation began: one agent must not be resumed within the same minute. */
  conversationSince: number | null;
  /** Whether the conversation ever received a prompt: without one it cannot be resumed. */
  prompted: boolean;
  /** The last observed activity; null while the agent is down. */
  activity: { activity: Activity; source: string; at: number } | null;
  /** Times of the latest crashes, newest last, for the crash budget. */
  crashes: number[];
  /** A terminal agent crashed or was lost during a turn, and no turn has started since. */
  cutTurn?: { how: "crash" | "lost"; at: number } | null;
  /** Failed resume attempts in a row; after three a new conversation starts, with a notice. */
  resumeFailures: number;
  /** The primary one: open before merged before closed, then the newest. */
  pullRequest: { url: string; state: string } | null;
  /** Left out if there never was one, as are the next three. */
  pullRequests?: SeenPullRequest[];
  issueSeen?: SeenIssue;
  reactions?: { [R in ReactionName]?: ReactionHistory };
  /** Notifications that are not yet sent outside the dashboard. */
  untold?: string[];
  /** Left out if the session is not contained. */
  contain?: Containment;
  createdAt: number;
  lastActivityAt: number;
  /** Sequence of the last reduced event. */
  seq: number;
}

/** The fields that clients get as they are. */
export const plainFields = [
  "id",
  "project",
  "kind",
  "role",
  "agent",
  "title",
  "pinned",
  "issue",
  "base",
  "workspacePath",
  "agentSessionId",
  "seq",
] as const satisfies readonly (keyof SessionState & keyof SessionJson)[];
