/** The store as the rest of the daemon sees it. Only `src/store` contains SQL. */
import type { LogEntry, SessionEvent, StoredEvent } from "../protocol/event.ts";
import type { ProjectId, PromptId, SessionId } from "../protocol/ids.ts";
import type { SessionState } from "../protocol/session.ts";

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
}

/**
 * Looks at the state as it is at commit time and says what happens; throws to refuse, and then nothing is written.
 * It may be run a second time for one call (a full disk), so it must do nothing but answer.
 */
export type Change = (state: SessionState) => SessionEvent[];

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
  create(event: Extract<SessionEvent, { type: "session.created" }>, more?: SessionEvent[]): Promise<SessionState>;
  /**
   * A change that admits a prompt id this session already has writes nothing at all and resolves with the state as it is
   * (a retry), or is refused with `conflict` when the text is another one.
   */
  change(id: SessionId, change: Change): Promise<SessionState>;

  events(id: SessionId, after: number, limit: number): StoredEvent[];
  /** All sessions' events behind a cursor, in commit order. */
  log(after: number, limit: number, session?: SessionId): LogEntry[];
  cursor(): number;
  /** Told "something changed" once after each commit that holds events; the follower re-reads behind its cursor. Returns how to stop. */
  onCommit(listener: () => void): () => void;

  /** An admitted prompt, sent or not. Throws `storage` when its text is damaged. */
  prompt(id: SessionId, promptId: PromptId): PromptRow | null;

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
