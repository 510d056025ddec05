/** What runs agents. Two of them exist, tmux for terminals and ACP for chat; both pass `ports/runtime-contract.fixture.ts`. */
import type {
  Activity,
  ExitStatus,
  LaunchHow,
  LaunchId,
  ProcessIdentity,
  PromptId,
  SessionId,
} from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";

/** `unknown` is not `absent`: nothing destructive may follow from it. */
export type Observed<T> = { is: "known"; value: T } | { is: "absent" } | { is: "unknown"; why: string };

export interface RuntimeSeen {
  /** The launch that was found, which need not be the one that is expected. */
  launch: LaunchId;
  /** Whether the agent itself lives, by identity; its pane or keeper may outlive it. */
  agent: { alive: true; identity: ProcessIdentity } | { alive: false; exit: ExitStatus | null };
  /** The session's own long-lived processes. */
  processes: { identity: ProcessIdentity; what: string; startedAt: number }[];
  /** What the agent is doing, as it reports itself or by its screen; null if unknown. */
  activity: { activity: Activity; source: string; since: number; reason: string | null } | null;
  /** The conversation id that the agent itself reports. */
  agentSessionId: string | null;
  lastLines: string[];
  /** Whether the agent has not shown yet that it can take a prompt; only for agents that show it. */
  starting?: boolean;
  /** The end of the agent's last message, as it reported it. */
  lastMessage?: string;
  /** Whether the agent reported a prompt, from any source. */
  prompted?: boolean;
  /** Whether this launch was given its first prompt as an argument; set while the launch is not recorded as up. */
  promptTaken?: boolean;
  /** With `promptTaken`: whether the agent will confirm that prompt itself. */
  promptConfirmed?: "later" | "never";
  /** A dead launch of which nothing ever ran: its daemon died before it started the agent. */
  neverStarted?: boolean;
  /** A chat agent that can no longer receive input: it has to be ended and its session resumed. */
  deaf?: boolean;
  /** What was launched: keeper script, adapter and its version. */
  build?: string | null;
  /** Whether something else would be launched now: to be replaced when it is idle, never in the middle of a turn. */
  stale?: boolean;
}

/** Why nothing of a session is there anymore, where that is proven. `stopped`: by a stop of ours that was cut off. */
export type Absence = "other-boot" | "no-server" | "identity-gone" | "stopped";

export interface Observation {
  seen: Observed<RuntimeSeen>;
  /** With `absent`: what proves it. With `known` and an agent that is dead: that its server is gone too, or that we ended it. */
  cause: Absence | null;
}

export interface LaunchRequest {
  session: SessionState;
  launch: LaunchId;
  how: LaunchHow;
  /** Given at once where the agent takes a first prompt as an argument. */
  prompt: { promptId: PromptId; text: string } | null;
  env: Record<string, string>;
}

export type LaunchResult =
  | {
      launched: true;
      agent: ProcessIdentity;
      agentSessionId: string | null;
      promptTaken: boolean;
      promptConfirmed?: "later" | "never";
      /** Whether the agent will show when it is ready. */
      starting?: boolean;
    }
  | {
      launched: false;
      reason: string;
      exit: ExitStatus | null;
      lastLines: string[];
      conversationGone: boolean;
      /** It was started and ended on its own before its conversation was open: a crash like any other, if no one waits for it. */
      died?: boolean;
    };

export interface PromptToSend {
  promptId: PromptId;
  text: string;
  /** Only for a runtime that can carry them. */
  attachments?: SentAttachment[];
}

export type SentAttachment =
  | { type: "image"; mimeType: string; bytes: Uint8Array }
  /** `text` is what of it is meant; null where the agent is to read it itself. */
  | { type: "file"; name: string; path: string; text: string | null };

/** What a runtime that types needs of its caller. */
export interface Typing {
  /**
   * Called right before the first key: from here on a prompt may have arrived. `mark`: prompts confirmed so far.
   * False: it is not to be typed anymore.
   */
  begin(mark: number): Promise<boolean>;
  /** False once the session is to go down: nothing is waited for then. */
  wanted(): boolean;
}

/** A prompt that was typed, or given as an argument, and is not confirmed yet. */
export interface SentPrompt {
  promptId: PromptId;
  text: string;
  launch: LaunchId;
  /** How many prompts the agent had confirmed before this one. */
  mark: number;
  sentAt: number;
  asArgument: boolean;
}

export type Confirmation =
  | { is: "confirmed"; by: string }
  | { is: "waiting"; why: string }
  /** It was taken out of the input line again, so it can be typed once more. */
  | { is: "not-taken"; why: string }
  | { is: "doubtful"; why: string }
  /** The agent that it was given to does not run. */
  | { is: "gone" };

export type SendResult =
  | { sent: "seen"; by: string }
  /** Typed; ask `confirm` what became of it. */
  | { sent: "pending"; why: string }
  /** Not sent, may be tried again later. `typed`: it was in the agent's input line, and was taken out again. */
  | { sent: "not-now"; why: string; typed?: true }
  /** The agent cannot take it; nothing was written, and trying again would not help. */
  | { sent: "refused"; why: string }
  /** Written, but it could not be seen to arrive; never repeated on its own. */
  | { sent: "doubtful"; why: string };

export interface StopResult {
  /** What is still alive; empty means that the complete tree is proven gone. */
  remaining: { pid: number; what: string }[];
  exit: ExitStatus | null;
  lastLines: string[];
}

export interface ViewRequest {
  cols: number;
  rows: number;
  /** Only watches: the window's size is not this viewer's to give. */
  readonly: boolean;
}

export type ViewEnd = (reason: string) => void;

/** One viewer's line to a screen. Its opener closes it. */
export interface TerminalView {
  /** The launch whose screen it is; nothing typed here reaches another one. */
  readonly launch: LaunchId;
  /** Emits the bytes of the screen, from the first one, and then its end. */
  start(sink: { data(bytes: Buffer): void; end: ViewEnd }): void;
  write(bytes: Buffer): void;
  resize(cols: number, rows: number): void;
  watchOnly(on: boolean): void;
  /** For a viewer that does not take its bytes. */
  pause(): void;
  resume(): void;
  close(): void;
}

export interface Runtime {
  /** What would keep any launch from working, in sentences with the fix; empty when nothing would. */
  preflight(): Promise<string[]>;
  /** One observation for all of them, with its own deadline. */
  observe(sessions: readonly SessionState[]): Promise<Map<SessionId, Observation>>;
  /** Whether something of a session whose run has ended may still be there; cheap, for every session at a start. */
  mayHaveLeft(session: SessionState): boolean;
  /** Removes the files of a session of which nothing runs: a crash may come between its end and their removal. */
  clear(session: SessionState): void;
  /** Whether files of a session with this id are there, known to the record or not. */
  hasFiles(id: SessionId): boolean;
  /** Repeatable for one launch id: a launch that is already there is not started again. */
  launch(request: LaunchRequest): Promise<LaunchResult>;
  send(session: SessionState, prompt: PromptToSend): Promise<SendResult>;
  /** Ends the complete tree in stages and verifies that it is empty. Of something gone: success. */
  stop(session: SessionState, options: { force: boolean; deadlineMs: number }): Promise<StopResult>;
  /** What the screen shows now. */
  capture(session: SessionState, lines: number): Promise<string>;
  /** A command that can be pasted into a terminal. */
  attachCommand(session: SessionState): string[] | null;
  /** Called when something may have changed, so that the loop checks once. */
  onHint(listener: (session: SessionId | null) => void): void;
  close(): Promise<void>;
}

export interface TerminalRuntime extends Runtime {
  /** Removes files of deleted sessions of which nothing runs. */
  clearDeleted(wasDeleted: (id: SessionId) => boolean): Promise<void>;
  /** Sessions that have a screen, known to the record or not. */
  running(): Promise<SessionId[]>;
  send(session: SessionState, prompt: PromptToSend, typing?: Typing): Promise<SendResult>;
  /**
   * What became of a prompt that was sent and not confirmed. With `finish`, Enter is pressed again where only that is
   * missing, and a prompt that the agent does not take is taken out of its input line.
   */
  confirm(session: SessionState, prompt: SentPrompt, options: { finish: boolean }): Promise<Confirmation>;
  /** Throws a HoldfastError where there is no live screen of the launch on record. */
  view(session: SessionState, request: ViewRequest): Promise<TerminalView>;
}
