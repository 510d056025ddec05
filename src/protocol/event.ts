/**
 * Durable events. Each session's events are numbered without gaps from 1; what is shown or decided comes from them.
 * On the wire an event is flat: {seq, at, type, ...data}.
 */
import type { LaunchId, ProjectId, PromptId, SessionId, TrashId } from "./ids.ts";
import type { Activity, Actor, EndedHow, ExitStatus, Kind, LaunchHow, ProcessIdentity, Role, Want } from "./session.ts";

export interface SessionCreated {
  type: "session.created";
  id: SessionId;
  project: ProjectId;
  kind: Kind;
  role: Role;
  agent: string;
  title: string;
  issue: string | null;
  branch: string;
  branchCreated: boolean;
  base: string;
  workspacePath: string;
  by: Actor;
}

export type SessionEvent =
  | SessionCreated
  | { type: "session.intent"; want: Want; by: Actor }
  | { type: "session.renamed"; title: string; by: Actor }
  | { type: "workspace.ready"; path: string; branch: string; branchCreated: boolean; base: string }
  | { type: "workspace.output"; text: string }
  | { type: "workspace.trashed"; trash: TrashId; ref: string | null; uncommitted: number; unpushed: number }
  | { type: "workspace.restored"; trash: TrashId; path: string; branch: string | null }
  | { type: "workspace.gone"; reason: string }
  | { type: "launch.started"; launch: LaunchId; how: LaunchHow; attempt: number }
  | { type: "launch.up"; launch: LaunchId; agent: ProcessIdentity | null }
  | { type: "launch.adopted"; launch: LaunchId; agent: ProcessIdentity | null }
  | { type: "launch.failed"; launch: LaunchId; reason: string; lastLines: string[] }
  | {
      type: "run.ended";
      launch: LaunchId;
      how: EndedHow;
      exit: ExitStatus | null;
      uptimeMs: number | null;
      lastLines: string[];
    }
  | { type: "conversation.pinned"; agentSessionId: string }
  | { type: "context.reset"; reason: string; previous: string | null }
  | { type: "prompt.admitted"; promptId: PromptId; text: string; by: Actor }
  | { type: "prompt.sending"; promptId: PromptId; launch: LaunchId }
  | { type: "prompt.sent"; promptId: PromptId; seenBy: string }
  | { type: "prompt.doubtful"; promptId: PromptId; reason: string }
  | { type: "prompt.requeued"; promptId: PromptId; reason: string }
  | { type: "prompt.withdrawn"; promptId: PromptId; by: Actor }
  | { type: "turn.started"; promptId: PromptId | null }
  | { type: "turn.ended"; stopReason: string }
  | { type: "activity.changed"; activity: Activity; source: string }
  | { type: "notice"; level: "info" | "warn"; text: string };

export type EventType = SessionEvent["type"];

/** An event as it is stored and read back. */
export type StoredEvent = SessionEvent & { seq: number; at: number };

/** Follows every session's events at once: `cursor` is the store-wide order, `seq` the session's own. */
export interface LogEntry {
  cursor: number;
  session: SessionId;
  event: StoredEvent;
}
