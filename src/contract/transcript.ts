/** The items of a readable transcript: made by the reducer in model/transcript, shown by the dashboard and the CLI. */
import type { Attachment } from "./event.ts";
import type { Actor, EndedHow, ExitStatus, Kind, LaunchHow, LaunchId, PermissionOption, PromptId } from "./ids.ts";
import type { RuleName } from "./permission-rules.ts";

/**
 * `seq` is the event that put the item where it stands, and orders the items; `at` is its time in milliseconds since
 * 1970. An item that changes is replaced by another object: the same object means nothing changed.
 */
interface Placed {
  /** The same for as long as the item exists, also when it moves. */
  key: string;
  seq: number;
  at: number;
}

export interface PromptItem extends Placed {
  item: "prompt";
  promptId: PromptId;
  text: string;
  /** The event with the full text. */
  textSeq: number;
  /** The text is longer than what is here. */
  cut?: true;
  attachments: Attachment[];
  by: Actor;
  state: "queued" | "sending" | "sent" | "doubtful" | "refused" | "withdrawn";
  edited: boolean;
  /** Why it is doubtful, refused, or back in the queue. */
  reason: string | null;
}

export interface ToolItem extends Placed {
  item: "tool";
  toolCallId: string;
  title: string | null;
  kind: string | null;
  status: string | null;
  content: unknown[];
  locations: unknown[];
  rawInput: unknown;
  rawOutput: unknown;
  /** The events with the full fields. */
  whole: { content?: number; rawInput?: number; rawOutput?: number };
  /** Something was shortened here: the events listed above have the full text. */
  cut?: true;
  /** Its turn or its agent ended before it reported a result. */
  abandoned: boolean;
}

export interface PermissionItem extends Placed {
  item: "permission";
  requestId: string;
  toolCallId: string | null;
  title: string;
  options: PermissionOption[];
  answer: {
    optionId: string | null;
    outcome: "selected" | "cancelled";
    by: Actor;
    at: number;
    rule?: RuleName;
  } | null;
  /** Whether it can still be answered. */
  open: boolean;
}

export type TranscriptItem =
  | PromptItem
  /** `continued`: the same text continues from the previous item, which had become too long. */
  | (Placed & { item: "text"; text: string; messageId: string | null; continued: boolean })
  | (Placed & { item: "thought"; text: string; continued: boolean })
  | ToolItem
  | PermissionItem
  | (Placed & {
      item: "turn-end";
      stopReason: string;
      message: string | null;
      promptId: PromptId | null;
      startedAt: number | null;
    })
  | (Placed & { item: "reset"; reason: string })
  | (Placed & {
      item: "launch";
      launch: LaunchId;
      how: LaunchHow;
      attempt: number;
      state: "starting" | "up" | "failed";
      reason: string | null;
      lastLines: string[];
      /** It failed because the agent no longer has the conversation: a reset follows. */
      conversationGone?: true;
    })
  | (Placed & { item: "ended"; launch: LaunchId; how: EndedHow; exit: ExitStatus | null; lastLines: string[] })
  | (Placed & { item: "notice"; level: "info" | "warn"; text: string })
  | (Placed & { item: "damaged"; what: string; bytes: number })
  | (Placed & { item: "auth"; message: string; methods: unknown[] })
  | (Placed & { item: "mode"; mode: string; by: Actor })
  | (Placed & { item: "model"; model: string; by: Actor })
  | (Placed & { item: "config"; id: string; value: string; by: Actor })
  | (Placed & { item: "converted"; kind: Kind; by: Actor })
  | (Placed & { item: "workspace-output"; text: string; continued: boolean });

export interface TranscriptTurn {
  open: boolean;
  /** Null in a turn that the agent started itself. */
  promptId: PromptId | null;
  startedAt: number;
  cancelling: boolean;
  answerMayBeLost: boolean;
}

/** Everything but the items. */
export interface TranscriptHead {
  /** The last reduced event; 0 before the first. */
  seq: number;
  /** Prompts that wait, in their order. They get their place among the items when they are sent. */
  queue: PromptItem[];
  plan: unknown[] | null;
  /** As the agent gave them; with the mode or model that was picked since. */
  modes: unknown;
  models: unknown;
  configOptions: unknown;
  commands: unknown[] | null;
  usage: Record<string, unknown> | null;
  turn: TranscriptTurn | null;
  lastReset: { seq: number; reason: string } | null;
  /** Whether the recap after the last reset was used or dismissed: it is offered once. True without a reset. */
  primerUsed: boolean;
}

export interface Transcript extends TranscriptHead {
  items: readonly TranscriptItem[];
}

/** Where to look for the items that may still change; all of it is plain JSON. */
export interface TranscriptRefs {
  /** The last item: words that follow are added to it. */
  last: number | null;
  tools: [toolCallId: string, seq: number][];
  permissions: [requestId: string, seq: number][];
  prompts: [promptId: string, seq: number][];
  launch: number | null;
}

/** The newest items, or those before one. `refs` and the head let a `TranscriptBuilder` continue from here. */
export interface TranscriptPage extends Transcript {
  older: boolean;
  /** Items before these that later events may still change: an open permission request, a running tool. */
  pinned: TranscriptItem[];
  refs: TranscriptRefs;
}
