/** The store as the rest of the daemon sees it. Only `src/store` contains SQL. */
import type { Fence } from "../contract/acp.ts";
import type { Attachment, FactEvent, Judged, LogEntry, SessionCreated, StoredEvent } from "../contract/event.ts";
import type { LaunchId, ProjectId, PromptId, SessionId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";

export interface ProjectRow {
  id: ProjectId;
  path: string;
  prefix: string;
  /** The file this project is described in, or null where the repository was added by itself. */
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

/** A session's ready transcript: the fold's own state as JSON, and the last event that is in it. */
export interface TranscriptRow {
  seq: number;
  saved: string;
}

/** One item of a transcript, as JSON. */
export interface ItemRow {
  seq: number;
  body: string;
}

/** What folding on gave. */
export interface TranscriptAdvance {
  /** The event it was folded on from; null when from the beginning, and then nothing is left of what was stored. */
  from: number | null;
  format: number;
  seq: number;
  saved: string;
  /** One that is there already is replaced. */
  items: ItemRow[];
  removed: number[];
}

/**
 * Looks at the state as it is at commit time and says what happens; throws to refuse, and then nothing is written.
 * It may be run a second time for one call (a full disk), so it must do nothing but answer. Facts only: what changes an
 * intent is a verb.
 */
export type Change = (state: SessionState) => FactEvent[];

/** The same for a verb, which `model/lifecycle.ts` judges; null writes nothing. */
export type JudgeVerb = (state: SessionState) => Judged | null;

/** How far a chat launch is, in bytes of its two files. */
export interface LaunchPlace {
  session: SessionId;
  launch: LaunchId;
  /** The end of the last outbox row: what the size of `in` will be once everything is appended. */
  inEnd: number;
  /** Everything of `out` before this byte is in the events. */
  outRead: number;
  fence: Fence;
  /** Whether the agent answered the last line it was sent, so that it has certainly read all of `in`. */
  settled: boolean;
  /** What its owner keeps with it, as JSON. */
  info: string;
}

/** A line for the agent, durable before it is written to `in`. */
export interface OutboxRow {
  launch: LaunchId;
  /** Unique within the launch; the id of a request is made from it. */
  key: string;
  offset: number;
  length: number;
  /** With its newline; null once it is known to be in `in`. */
  text: string | null;
  /** The agent's answer to a request, as JSON; null until it came. */
  answer: string | null;
}

/** What one step of a chat launch writes, all in one transaction. */
export interface ChatStep {
  events?: FactEvent[];
  /** Lines to be appended to `in`, each with its newline; a key that is there already is left as it is. */
  lines?: { key: string; text: string }[];
  /** Answers to earlier lines; the first one counts. */
  answers?: { key: string; answer: string }[];
  outRead?: number;
  fence?: Fence;
  info?: string;
  /** Where `in` ends, for lines that a lost record named; lines of this step come after it. */
  inEnd?: number;
  /** `in` is whole up to here: texts before it need not be kept any longer. */
  appendedTo?: number;
}

/** Like `Change`: it may be run twice, so it does nothing but answer; null writes nothing. */
export type ChatChange = (state: SessionState, place: LaunchPlace | null) => ChatStep | null;

export interface EventsWanted {
  /** Behind this sequence, and below that one. */
  after?: number;
  before?: number;
  limit: number;
  /** Not many more characters than this, and at least one event: an agent that floods makes events of a megabyte. */
  chars: number;
  types?: readonly StoredEvent["type"][];
  /** Where not all of them fit: the last ones, not the first. */
  newest?: boolean;
}

export interface Store {
  /** Committed states, deleted sessions left out. */
  sessions(): readonly SessionState[];
  /** Also a deleted session's state (its intent says `deleted`) until it is purged: its end still has to be recorded. */
  session(id: SessionId): SessionState | null;
  /** Deleted sessions that are not purged yet: what is left of them still has to be ended and cleared away. */
  deleting(): readonly SessionState[];
  /** Drops a deleted session's state, events and prompts; the id stays used for ever. Refused unless deleted. */
  purgeDeleted(id: SessionId): Promise<void>;
  /** Whether this id was ever used, tombstones included. */
  wasUsed(id: string): boolean;
  /** The next free `<prefix>-<n>`; numbers are never given twice, also when the spawn fails afterwards. */
  nextNumber(prefix: string): Promise<number>;

  /** Events and their projection in one transaction; resolves once they are on disk. A tick's changes share a commit. */
  create(event: SessionCreated, more?: FactEvent[]): Promise<SessionState>;
  change(id: SessionId, change: Change): Promise<SessionState>;
  /**
   * The one way to change an intent. What was judged against any other state than the one it is committed over is a bug,
   * and throws.
   *
   * A verb that admits a prompt id this session already has writes nothing at all and resolves with the state as it is
   * (a retry), or is refused with `conflict` when the text or an attachment is another one. `attachments` are the bytes
   * of the one prompt that it admits.
   */
  applyVerb(id: SessionId, judge: JudgeVerb, attachments?: readonly Uint8Array[]): Promise<SessionState>;

  /**
   * One step of a chat launch. A launch that has no place yet gets one at zero, and other launches' places of that session
   * are dropped. Resolves with what is then committed.
   */
  chat(
    id: SessionId,
    launch: LaunchId,
    change: ChatChange,
  ): Promise<{ state: SessionState; place: LaunchPlace | null }>;
  launchPlaces(): LaunchPlace[];
  launchPlace(launch: LaunchId): LaunchPlace | null;
  outboxRow(launch: LaunchId, key: string): OutboxRow | null;
  /** Rows that end behind this byte of `in`, in order. Throws `storage` when a text is damaged. */
  outboxAfter(launch: LaunchId, offset: number): OutboxRow[];
  /** Everything kept for a launch whose files are gone. */
  forgetLaunch(launch: LaunchId): Promise<void>;

  events(id: SessionId, after: number, limit: number): StoredEvent[];
  /** For logs of any size: in order, and no more than was wanted. */
  someEvents(id: SessionId, wanted: EventsWanted): StoredEvent[];
  /** The end of what a chat agent said behind a sequence. */
  agentText(id: SessionId, after: number): string;
  /** All sessions' events behind a cursor, in commit order. */
  log(after: number, limit: number, session?: SessionId): LogEntry[];
  cursor(): number;
  /** Told "something changed" once after each commit that holds events; the follower re-reads behind its cursor. Returns how to stop. */
  onCommit(listener: () => void): () => void;

  /** An admitted prompt, sent or not. Throws `storage` when its text is damaged. */
  prompt(id: SessionId, promptId: PromptId): PromptRow | null;
  /** The bytes of a prompt's nth attachment, from 0. Throws `storage` when they are not those that were stored. */
  attachment(id: SessionId, promptId: PromptId, n: number): Uint8Array | null;

  /** The ready transcript, a cache: null when there is none of this format that can be believed. */
  transcript(id: SessionId, format: number): TranscriptRow | null;
  /** Its newest items before that one, newest first; null when the cache cannot be believed. */
  transcriptItems(id: SessionId, before: number, limit: number): ItemRow[] | null;
  transcriptItemsAt(id: SessionId, seqs: readonly number[]): ItemRow[] | null;
  /** Writes nothing unless what is stored is still as it was when the fold began. */
  saveTranscript(id: SessionId, advance: TranscriptAdvance): Promise<void>;

  projects(): readonly ProjectRow[];
  putProject(project: ProjectRow): Promise<void>;
  removeProject(id: ProjectId): Promise<void>;

  /** Small durable values: login lockout, counters of the daemon's own. */
  getSetting(key: string): string | null;
  putSetting(key: string, value: string | null): Promise<void>;

  /** Readiness: a real query and a real write. Throws what went wrong. */
  probe(): Promise<void>;
  /** Problems found by SQLite's own check and by the checksums of event bodies. */
  verify(): string[];
  close(): void;
}
