/** What the daemon asks of a chat runtime beyond `Runtime`, and what that runtime needs of the daemon. */
import type { AgentSetting } from "../contract/acp.ts";
import type { Actor, LaunchId, SessionId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import type { Runtime } from "./runtime.ts";
import type { Transition, Store } from "./store.ts";

/** The part of the store that a chat runtime writes: lines before they are sent, places as they move. */
export type ChatStore = Pick<
  Store,
  "session" | "chat" | "allLaunchOffsets" | "launchOffsets" | "inputRow" | "inputAfter" | "forgetLaunch"
>;

/** Lines that an agent wrote, from byte `from` to byte `to` of its `out`. */
export interface OutputBatch {
  session: SessionId;
  launch: LaunchId;
  from: number;
  to: number;
  items: OutputBatchItem[];
}

export type OutputBatchItem =
  | { item: "message"; message: Record<string, unknown>; bytes?: number }
  | { item: "damaged"; what: "oversized" | "unparsable" | "torn" | "shrunk"; bytes: number };

export interface Ingested {
  state: SessionState;
  /** How far `out` is committed now; an offset other than the batch's end means that the batch was not committed. */
  read: number;
  /** Whether lines for the agent were written that now have to be appended to `in`. */
  replies: boolean;
  /** Keys of our requests that were answered in this batch. */
  answered: string[];
  /** Whether a decision may follow from it: a turn, a permission request or an answer. */
  decisive: boolean;
}

/** Makes events of a batch and commits them with its place; a batch whose place is not the stored one writes nothing. */
export type Ingest = (batch: OutputBatch) => Promise<Ingested>;

export type Answered =
  | { answered: true }
  /** Another process was first, or the agent that asked is gone. */
  | { answered: false; why: "not-open" | "no-such-option" };

export type ConfigureResult = { sent: true } | { sent: false; why: string };

export type CancelResult =
  /** The agent ended the turn; `stopReason` is its own word. */
  | { cancelled: "ended"; stopReason: string }
  | { cancelled: "no-turn" }
  | { cancelled: "not-yet" }
  | { cancelled: "not-sent"; why: string };

export type DeleteOutcome = "deleted" | "unsupported" | "failed" | "too-late" | "not-running";

/** `none`: the agent has no command for it, or it is not installed. */
export type OwnDeleteOutcome = "deleted" | "failed" | "none";

/** Content types that an agent supports besides text and links. */
export interface PromptCapabilities {
  image: boolean;
  embeddedContext: boolean;
}

export interface Chat {
  /** Registers a launch that the store does not know, with these events in one transaction: its output is read from the start. */
  adoptUnrecorded(session: SessionState, launch: LaunchId, events: Transition): Promise<void>;
  /** Content types that the latest launch supports in a prompt; null while unknown. */
  promptCapabilities(session: SessionState): PromptCapabilities | null;
  /** Answers a permission request, once, whichever client answers and whenever it was made. */
  answer(session: SessionState, requestId: string, optionId: string, by: Actor): Promise<Answered>;
  /** Answers open permission requests with `cancelled`, asks the agent to end its turn, and waits for that. */
  cancel(session: SessionState, options: { by: Actor; waitMs: number }): Promise<CancelResult>;
  /** Force-ends the stored turn; false if no turn is open. */
  endTurn(session: SessionState, by: Actor): Promise<boolean>;
  /** Mode, model or another option; stored when the agent agreed, and applied again to its later launches. */
  configure(session: SessionState, pick: AgentSetting, by: Actor): Promise<ConfigureResult>;
  /** Asks the living agent to delete its own copy of the conversation. Only for a permanent removal. */
  deleteConversation(session: SessionState): Promise<DeleteOutcome>;
  /** Runs the agent's own command that deletes a conversation; only once nothing of the session runs. */
  deleteByCommand(session: SessionState, env: Record<string, string>): Promise<OwnDeleteOutcome>;
  /** Marks a pending restart, which abandoned keepers wait for. */
  markRestarting(session: SessionState): void;
  /** Removes what is kept of a session that is deleted permanently and of which nothing runs. */
  forget(session: SessionState): void;
  /** The newest lines of the agent's stderr. */
  errorLines(session: SessionState, lines: number): string[];
}

export type ChatRuntime = Runtime & Chat;
