/**
 * Durable events. Each session's events are numbered without gaps from 1; what is shown or decided comes from them.
 * On the wire an event is flat: {seq, at, type, ...data}.
 */
import type { Containment } from "./containment.ts";
import type { ReactionAction, ReactionName } from "./reaction.ts";
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
} from "./ids.ts";
import type { Asker } from "./permission-request.ts";
import type { RuleName } from "./permission-rules.ts";
import type { IssueFacts, PullRequestFacts } from "./tracker.ts";

export type SessionCreated = {
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
  /** Left out where it is not contained. */
  contain?: Containment;
  by: Actor;
};

declare const judged: unique symbol;

/** What the log holds of a verb. */
export type IntentBody = {
  type: "session.intent";
  want: Want;
  by: Actor;
};

/**
 * An intent that may be written. Only `model/lifecycle.ts` makes one, because there is one guard for what you end stays
 * ended, and it is there. The mark exists for the compiler alone: nothing of it is stored.
 */
export type IntentEvent = JudgedIntent<Want>;

/** One type per want, and the mark names it too: a copy of an intent with another want is not an intent. */
type JudgedIntent<W extends Want> = W extends Want ? IntentBody & { want: W; readonly [judged]: W["want"] } : never;

/** What a verb writes, and the sequence of the state it was judged against: the store refuses it over any other. */
export interface Judged {
  events: readonly SessionEvent[];
  seq: number;
}

export type SessionEvent = IntentEvent | FactEvent;

/** Everything except intents: actions taken and observations. */
export type FactEvent =
  | SessionCreated
  | { type: "session.renamed"; title: string; by: Actor }
  | { type: "session.pinned"; by: Actor }
  | { type: "session.unpinned"; by: Actor }
  /** This home is a copy: the session's agent, worktree and conversation belong to the home in `original`. */
  | { type: "session.copied"; original: string }
  | { type: "workspace.ready"; path: string; branch: string; branchCreated: boolean; base: string }
  | { type: "workspace.output"; text: string }
  | {
      type: "workspace.trashed";
      /** Checked out when it was moved; older events leave it out. */
      branch?: string | null;
      trash: TrashId;
      ref: string | null;
      uncommitted: number;
      unpushed: number;
      /** The first of the unpushed commits, by id and subject. */
      commits?: string[];
      /** What could not be counted or kept by a ref, and why. */
      note?: string;
    }
  | { type: "workspace.restored"; trash: TrashId; path: string; branch: string | null }
  /** `neverMade`: nothing was ever there, so nothing is lost by creating it. */
  | { type: "workspace.gone"; reason: string; neverMade?: boolean }
  /** It could not be created, and nothing of it is left: the next time you ask it is tried again. */
  | { type: "workspace.failed"; reason: string }
  | { type: "launch.started"; launch: LaunchId; how: LaunchHow; attempt: number }
  | { type: "launch.up"; launch: LaunchId; agent: ProcessIdentity | null }
  | { type: "launch.adopted"; launch: LaunchId; agent: ProcessIdentity | null }
  /** `retry`: its program could not be started, and Holdfast launches it again later. */
  | { type: "launch.failed"; launch: LaunchId; reason: string; lastLines: string[]; retry?: true }
  | {
      type: "run.ended";
      launch: LaunchId;
      how: EndedHow;
      exit: ExitStatus | null;
      uptimeMs: number | null;
      lastLines: string[];
    }
  | { type: "conversation.pinned"; agentSessionId: string }
  /** The user typed on the agent's own screen: there is a conversation to resume. */
  | { type: "conversation.used" }
  | { type: "context.reset"; reason: string; previous: string | null }
  | { type: "prompt.admitted"; promptId: PromptId; text: string; by: Actor; attachments?: Attachment[] }
  /** `mark`: how many prompts the agent had confirmed by then. `argument`: given with the start instead of typed. */
  | { type: "prompt.sending"; promptId: PromptId; launch: LaunchId; mark?: number; argument?: boolean }
  | { type: "prompt.sent"; promptId: PromptId; seenBy: string }
  | { type: "prompt.doubtful"; promptId: PromptId; reason: string }
  | { type: "prompt.requeued"; promptId: PromptId; reason: string; typed?: true }
  /** The agent cannot take what is in it, which was only known once it ran; it is not sent. */
  | { type: "prompt.refused"; promptId: PromptId; reason: string }
  | { type: "prompt.withdrawn"; promptId: PromptId; by: Actor }
  /** While it waits: the text that will be sent instead. */
  | { type: "prompt.edited"; promptId: PromptId; text: string; by: Actor }
  | { type: "prompt.moved"; promptId: PromptId; position: number; by: Actor }
  /** The recap offered after the last reset was dismissed. */
  | { type: "primer.dismissed"; by: Actor }
  | { type: "session.converted"; kind: Kind; by: Actor }
  | { type: "turn.started"; promptId: PromptId | null }
  /** `orphaned_at_restart`, `forced`, `error` and `quiet` are ours; any other stop reason is the agent's own word. */
  | { type: "turn.ended"; stopReason: string; promptId?: PromptId | null; message?: string }
  /** The user cancelled the turn; the agent has not responded yet. */
  | { type: "turn.cancelling"; by: Actor }
  | ChatEvent
  | TrackerEvent
  | { type: "activity.changed"; activity: Activity; source: string }
  | { type: "notice"; level: "info" | "warn"; text: string };

/** What trackers say of a session, and what is done about it. */
export type TrackerEvent =
  /** Only when something of it is different from before. */
  /** `was`: its address before its repository was renamed. */
  | { type: "pull-request.seen"; pullRequest: PullRequestFacts; was?: string }
  /** `takenBy`: the session that claimed it; events of earlier builds have it only in `reason`. */
  | { type: "pull-request.lost"; url: string; reason: string; takenBy?: SessionId }
  | { type: "pull-request.claimed"; url: string; by: Actor }
  | { type: "issue.seen"; issue: Omit<IssueFacts, "body"> }
  /** `key` is what was reacted to: the same content is reacted to once. A message is admitted in the same commit. */
  | {
      type: "reaction.fired";
      reaction: ReactionName;
      action: ReactionAction;
      why: string;
      key: string;
      attempt: number;
      promptId?: PromptId;
    }
  | { type: "reaction.escalated"; reaction: ReactionName; why: string; key: string }
  /** The condition cleared: the budget resets. */
  | { type: "reaction.cleared"; reaction: ReactionName }
  /** `channels`: channels other than the dashboard that have not been notified yet. */
  | { type: "notification"; id: string; title: string; text: string; why: string; channels: string[] }
  | { type: "notification.sent"; id: string; failed: { channel: string; why: string }[] };

/** What a prompt carries beside its text. The bytes are kept apart: events are read again and again. */
export interface Attachment {
  type: "image" | "file";
  /** An image's own name, or the path of a file within the worktree. */
  name: string;
  mimeType: string | null;
  /** Bytes that are kept: 0 where only the path is sent. */
  size: number;
  /** SHA-256 of those bytes, in hex. */
  digest: string;
}

/** A chat agent's output. Its text is in `agent.text`, once, and nowhere else. */
export type ChatEvent =
  | {
      type: "chat.opened";
      launch: LaunchId;
      agentSessionId: string;
      how: "new" | "load" | "resume";
      /** As the agent gave them; null where it has none. */
      modes: unknown;
      models: unknown;
      configOptions: unknown;
      commands: unknown;
    }
  | { type: "agent.text"; text: string; messageId?: string }
  | { type: "agent.thought"; text: string }
  | {
      type: "tool.updated";
      toolCallId: string;
      title?: string;
      kind?: string;
      status?: string;
      content?: unknown[];
      locations?: unknown[];
      rawInput?: unknown;
      rawOutput?: unknown;
    }
  | { type: "plan.updated"; entries: unknown[] }
  /** `requestId` is ours (permission-request.ts); `asker` is missing in events of earlier builds. */
  | {
      type: "permission.asked";
      requestId: string;
      asker?: Asker;
      toolCallId?: string;
      title: string;
      options: PermissionOption[];
    }
  | {
      type: "permission.answered";
      requestId: string;
      optionId: string | null;
      outcome: "selected" | "cancelled";
      by: Actor;
      /** The permission rule that answered, where one did. */
      rule?: RuleName;
    }
  | { type: "mode.changed"; mode: string; by: Actor }
  | { type: "model.changed"; model: string; by: Actor }
  /** `configOptions` as the agent sent them; `picked` if the user chose a value. */
  | { type: "config.changed"; configOptions: unknown; picked?: { id: string; value: string }; by: Actor }
  | { type: "commands.changed"; commands: unknown[] }
  | { type: "usage.updated"; usage: Record<string, unknown> }
  | { type: "auth.required"; message: string; methods: unknown[] }
  /** Something in the agent's output could not be understood: an open turn may have lost part of its answer. */
  | { type: "output.damaged"; what: "oversized" | "unparsable" | "torn" | "shrunk"; bytes: number };

/** An event as it is stored and read back. */
export type StoredEvent = (FactEvent | IntentBody) & { seq: number; at: number };

/**
 * Follows every session's events at once: `cursor` is the store-wide order, `seq` the session's own. The event is the text
 * that is stored: followers get text, without an object in between.
 */
export interface LogEntry {
  cursor: number;
  session: SessionId;
  seq: number;
  at: number;
  type: string;
  /** JSON of the event without seq, at and type. */
  body: string;
}
