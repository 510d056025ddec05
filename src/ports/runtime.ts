/** Runs agents: tmux for terminals, ACP for chat. Both pass `ports/runtime-contract.fixture.ts`. */
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
  /** The launch that was found; not necessarily the expected one. */
  launch: LaunchId;
  /** Whether the agent itself is alive, by identity; its pane or keeper may outlive it. */
  agent: { alive: true; identity: ProcessIdentity } | { alive: false; exit: ExitStatus | null };
  /** The session's own long-lived processes. */
  processes: { identity: ProcessIdentity; what: string; startedAt: number }[];
  /** What the agent is doing, as it reports itself or by its screen; null if unknown. */
  activity: { activity: Activity; source: string; since: number; reason: string | null } | null;
  /** The conversation id that the agent itself reports. */
  agentSessionId: string | null;
  lastLines: string[];
  /** Whether the agent is not ready for a prompt yet; only for agents that show it. */
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
  /** A chat agent that can no longer receive input: it has to be stopped and its session resumed. */
  deaf?: boolean;
  /** The launched build: keeper script, adapter and its version. */
  build?: string | null;
  /** Whether a launch would start another build: replaced when idle, never during a turn. */
  stale?: boolean;
}

/** The proof that nothing of a session runs. `stopped`: by a stop of ours that was interrupted. */
export type Absence = "other-boot" | "no-server" | "identity-gone" | "stopped";

export interface Observation {
  seen: Observed<RuntimeSeen>;
  /** With `absent`: the proof. With a dead agent: that its server is gone too, or that we stopped it. */
  cause: Absence | null;
}

export interface LaunchRequest {
  session: SessionState;
  launch: LaunchId;
  how: LaunchHow;
  /** Passed as an argument if the agent accepts a first prompt that way. */
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
      /** It exited on its own before its conversation was open: a crash, unless a caller waits for the launch. */
      died?: boolean;
    };

export interface PromptToSend {
  promptId: PromptId;
  text: string;
  /** Only for a runtime that supports them. */
  attachments?: SentAttachment[];
}

export type SentAttachment =
  | { type: "image"; mimeType: string; bytes: Uint8Array }
  /** `text` is the selected part; null if the agent has to read the file itself. */
  | { type: "file"; name: string; path: string; text: string | null };

/** What a runtime that types needs from its caller. */
export interface Typing {
  /**
   * Called right before the first key: from here on a prompt may have arrived. `mark`: prompts confirmed so far.
   * False: it must not be typed anymore.
   */
  begin(mark: number): Promise<boolean>;
  /** False once the session is no longer wanted running: then nothing is awaited. */
  wanted(): boolean;
}

/** A prompt that was typed, or passed as an argument, and is not confirmed yet. */
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
  /** It was removed from the input line, so it can be typed again. */
  | { is: "not-taken"; why: string }
  | { is: "doubtful"; why: string }
  /** The agent that received it does not run. */
  | { is: "gone" };

export type SendResult =
  | { sent: "seen"; by: string }
  /** Typed; `confirm` tracks it. */
  | { sent: "pending"; why: string }
  /** Not sent, may be tried again. `typed`: it was in the agent's input line, and was removed. */
  | { sent: "not-now"; why: string; typed?: true }
  /** The agent does not support it; nothing was written, and retrying does not help. */
  | { sent: "refused"; why: string }
  /** Written, but not seen to arrive; never repeated automatically. */
  | { sent: "doubtful"; why: string };

export interface StopResult {
  /** Processes that are still alive; empty means that the complete tree is proven gone. */
  remaining: { pid: number; what: string }[];
  exit: ExitStatus | null;
  lastLines: string[];
}

export interface ViewRequest {
  cols: number;
  rows: number;
  /** A read-only viewer does not change the window's size. */
  readonly: boolean;
}

export type ViewEnd = (reason: string) => void;

/** One viewer's connection to a screen. Its opener closes it. */
export interface TerminalView {
  /** The launch whose screen it is; keys reach no other launch. */
  readonly launch: LaunchId;
  /** Emits all bytes of the screen, and then its end. */
  start(sink: { data(bytes: Buffer): void; end: ViewEnd }): void;
  write(bytes: Buffer): void;
  resize(cols: number, rows: number): void;
  watchOnly(on: boolean): void;
  /** For a viewer that reads too slowly. */
  pause(): void;
  resume(): void;
  close(): void;
}

export interface Runtime {
  /** Problems that would stop any launch, as sentences with the fix. */
  preflight(): Promise<string[]>;
  /** One observation of all sessions, with its own deadline. */
  observe(sessions: readonly SessionState[]): Promise<Map<SessionId, Observation>>;
  /** Whether a session whose run has ended may have left something. */
  mayHaveLeft(session: SessionState): boolean;
  /** The same for all sessions at a start: reads the directory once. */
  leftovers(sessions: readonly SessionState[]): ReadonlySet<SessionId>;
  /** Removes the files of a session of which nothing runs, for a crash between its end and their removal. */
  clear(session: SessionState): void;
  /** Whether files of a session with this id exist, recorded or not. */
  hasFiles(id: SessionId): boolean;
  /** Repeatable for one launch id: an existing launch is not started again. */
  launch(request: LaunchRequest): Promise<LaunchResult>;
  send(session: SessionState, prompt: PromptToSend): Promise<SendResult>;
  /** Stops the complete tree in stages and verifies that it is empty. Succeeds if nothing runs. */
  stop(session: SessionState, options: { force: boolean; deadlineMs: number }): Promise<StopResult>;
  /** The current screen. */
  capture(session: SessionState, lines: number): Promise<string>;
  /** A command to paste into a terminal. */
  attachCommand(session: SessionState): string[] | null;
  /** Called when something may have changed, so that the loop checks once. */
  onHint(listener: (session: SessionId | null) => void): void;
  close(): Promise<void>;
}

export interface TerminalRuntime extends Runtime {
  /** Removes files of deleted sessions of which nothing runs. */
  clearDeleted(wasDeleted: (id: SessionId) => boolean): Promise<void>;
  /** Sessions that have a screen, recorded or not. */
  running(): Promise<SessionId[]>;
  send(session: SessionState, prompt: PromptToSend, typing?: Typing): Promise<SendResult>;
  /**
   * The outcome of a prompt that was sent and not confirmed. With `finish`, presses Enter again if only that is missing,
   * and removes a prompt that the agent does not accept from its input line.
   */
  confirm(session: SessionState, prompt: SentPrompt, options: { finish: boolean }): Promise<Confirmation>;
  /** Throws a HoldfastError if the recorded launch has no live screen. */
  view(session: SessionState, request: ViewRequest): Promise<TerminalView>;
}
