/** The store as the rest of the daemon sees it. Only `src/store` contains SQL. */
import type { ReplayFilter } from "../contract/acp.ts";
import type { Attachment, FactEvent, Judged, LogEntry, SessionCreated, StoredEvent } from "../contract/event.ts";
import type { LaunchId, ProjectId, PromptId, SessionId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";

export interface ProjectRow {
  id: ProjectId;
  path: string;
  prefix: string;
  /** The file that describes this project; null if only the repository was added. */
  configFile: string | null;
  addedAt: number;
}

export interface PromptRow {
  session: SessionId;
  promptId: PromptId;
  text: string;
  attachments: Attachment[];
  /** The event that admitted it. */
  seq: number;
}

/** A session's saved transcript: the reducer's own state as JSON, and the last event in it. */
export interface TranscriptRow {
  seq: number;
  saved: string;
}

/** One item of a transcript, as JSON. */
export interface ItemRow {
  seq: number;
  body: string;
}

/** The result of reducing further events. */
export interface TranscriptAdvance {
  /** The event that reducing continued after; null if it started over, which replaces everything stored. */
  from: number | null;
  format: number;
  seq: number;
  saved: string;
  /** An existing item is replaced. */
  items: ItemRow[];
  removed: number[];
}

/**
 * Decides from the state at commit time which facts happened; throws to refuse, and then nothing is written. It may run
 * twice for one call (a full disk), so it must have no side effects. Facts only: intents are changed by verbs.
 */
export type Transition = (state: SessionState) => FactEvent[];

/** The same for a verb, judged by `model/lifecycle.ts`; null writes nothing. */
export type JudgeVerb = (state: SessionState) => Judged | null;

/** How far a chat launch is, as byte offsets in its two files. */
export interface LaunchOffsets {
  session: SessionId;
  launch: LaunchId;
  /** The end of the last input line: the size of `in` once everything is appended. */
  inEnd: number;
  /** All of `out` before this byte is in the events. */
  outRead: number;
  replayFilter: ReplayFilter;
  /** Whether the agent responded to the last line, so it has certainly read all of `in`. */
  settled: boolean;
  /** The owner's own data, as JSON. */
  info: string;
}

/** A line for the agent, durable before it is written to `in`. */
export interface InputRow {
  launch: LaunchId;
  /** Unique within the launch; a request's id is derived from it. */
  key: string;
  offset: number;
  length: number;
  /** With its newline; null once it is in `in`. */
  text: string | null;
  /** The agent's response to a request, as JSON; null until it arrives. */
  answer: string | null;
}

/** What one step of a chat launch writes, in one transaction. */
export interface ChatStep {
  events?: FactEvent[];
  /** Lines to append to `in`, each with its newline; an existing key is not changed. */
  lines?: { key: string; text: string }[];
  /** Responses to earlier lines; the first one counts. */
  answers?: { key: string; answer: string }[];
  outRead?: number;
  replayFilter?: ReplayFilter;
  info?: string;
  /** The end of `in`, after adopting lines that a lost record named; this step's lines follow it. */
  inEnd?: number;
  /** `in` is complete up to here: earlier texts are no longer needed. */
  appendedTo?: number;
}

/** Like `Transition`: it may run twice, so it must have no side effects; null writes nothing. */
export type ChatTransition = (state: SessionState, place: LaunchOffsets | null) => ChatStep | null;

export interface EventsWanted {
  /** After this sequence number, and before that one. */
  after?: number;
  before?: number;
  limit: number;
  /**
   * Stops after about this many characters, but returns at least one event: a flooding agent makes events of a
   * megabyte.
   */
  chars: number;
  types?: readonly StoredEvent["type"][];
  /** If not all fit: the last ones instead of the first. */
  newest?: boolean;
}

export interface Store {
  /** Committed states, without deleted sessions. */
  sessions(): readonly SessionState[];
  /** Includes a deleted session until it is purged: its end still has to be recorded. */
  session(id: SessionId): SessionState | null;
  /** Deleted sessions that are not purged yet: their leftovers still have to be stopped and removed. */
  deleting(): readonly SessionState[];
  /** Drops a deleted session's state, events and prompts; its id stays used forever. Refused unless deleted. */
  purgeDeleted(id: SessionId): Promise<void>;
  /** Whether this id was ever used, including deleted sessions. */
  wasUsed(id: string): boolean;
  /** The next free `<prefix>-<n>`; a number is never used twice, even if the spawn fails afterwards. */
  nextNumber(prefix: string): Promise<number>;

  /**
   * Writes events and their projection in one transaction; resolves once they are on disk. A tick's writes share a
   * commit.
   */
  create(event: SessionCreated, more?: FactEvent[]): Promise<SessionState>;
  commit(id: SessionId, transition: Transition): Promise<SessionState>;
  /**
   * The only way to change an intent. Throws if the verb was judged against another state than the one it is committed
   * to: that is a bug.
   * A verb that admits a prompt id this session already has writes nothing and resolves with the current state (a
   * retry), or is refused with `conflict` if the text or an attachment differs. `attachments` are the bytes of the
   * prompt it admits.
   */
  applyVerb(id: SessionId, judge: JudgeVerb, attachments?: readonly Uint8Array[]): Promise<SessionState>;

  /**
   * One step of a chat launch. The first step of a launch starts at offset zero and drops the session's earlier
   * launches. Resolves with what is committed.
   */
  chat(
    id: SessionId,
    launch: LaunchId,
    change: ChatTransition,
  ): Promise<{ state: SessionState; place: LaunchOffsets | null }>;
  allLaunchOffsets(): LaunchOffsets[];
  launchOffsets(launch: LaunchId): LaunchOffsets | null;
  inputRow(launch: LaunchId, key: string): InputRow | null;
  /** Lines that end after this byte of `in`, in order. Throws `storage` if a text is damaged. */
  inputAfter(launch: LaunchId, offset: number): InputRow[];
  /** Drops everything stored about a launch whose files are removed. */
  forgetLaunch(launch: LaunchId): Promise<void>;

  events(id: SessionId, after: number, limit: number): StoredEvent[];
  /** For logs of any size: in order, within the given limits. */
  someEvents(id: SessionId, wanted: EventsWanted): StoredEvent[];
  /** The end of a chat agent's text after a sequence number. */
  agentText(id: SessionId, after: number): string;
  /** All sessions' events after a cursor, in commit order. */
  log(after: number, limit: number, session?: SessionId): LogEntry[];
  cursor(): number;
  /** Calls the listener once after each commit with events; it then reads on from its cursor. Returns how to stop. */
  onCommit(listener: () => void): () => void;

  /** An admitted prompt, sent or not. Throws `storage` if its text is damaged. */
  prompt(id: SessionId, promptId: PromptId): PromptRow | null;
  /** The bytes of a prompt's nth attachment, from 0. Throws `storage` if they are damaged. */
  attachment(id: SessionId, promptId: PromptId, n: number): Uint8Array | null;

  /** The saved transcript, a cache: null if there is no intact one of this format. */
  transcript(id: SessionId, format: number): TranscriptRow | null;
  /** Its newest items before that one, newest first; null if the cache is damaged. */
  transcriptItems(id: SessionId, before: number, limit: number): ItemRow[] | null;
  transcriptItemsAt(id: SessionId, seqs: readonly number[]): ItemRow[] | null;
  /** Writes nothing if the stored transcript changed since it was read. */
  saveTranscript(id: SessionId, advance: TranscriptAdvance): Promise<void>;

  projects(): readonly ProjectRow[];
  putProject(project: ProjectRow): Promise<void>;
  removeProject(id: ProjectId): Promise<void>;

  /** Small durable values, such as the login lockout and the daemon's counters. */
  getSetting(key: string): string | null;
  putSetting(key: string, value: string | null): Promise<void>;

  /** Readiness: a real query and a real write. Throws if one fails. */
  probe(): Promise<void>;
  /** Problems found by SQLite's own check and by the events' checksums. */
  verify(): string[];
  close(): void;
}
