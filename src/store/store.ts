/** The store: committed states in memory, everything else read on demand, all writes through the group commit. */
import { hash } from "node:crypto";
import { HoldfastError, messageOf } from "../contract/errors.ts";
import type { FactEvent, LogEntry, SessionCreated, StoredEvent } from "../contract/event.ts";
import type { LaunchId, ProjectId, PromptId, SessionId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import type { Logger } from "../ports/api.ts";
import type {
  Transition,
  ChatTransition,
  EventsWanted,
  ItemRow,
  JudgeVerb,
  LaunchOffsets,
  InputRow,
  ProjectRow,
  PromptRow,
  Store,
  TranscriptAdvance,
  TranscriptRow,
} from "../ports/store.ts";
import { readAttachment, readPrompt } from "./prompts.ts";
import { Draft } from "./draft.ts";
import { readAgentText, readCursor, readEvents, readLog, readSessionLog, readSomeEvents } from "./events.ts";
import { diskFull, isDiskFull, storageError, type DatabasePaths } from "./failure.ts";
import { GroupCommit } from "./group-commit.ts";
import { Recent } from "./recent.ts";
import { readOffsets, readAllOffsets, readRow, readRowsAfter } from "./agent-input.ts";
import { readProjects, readSetting } from "./registry.ts";
import type { Reserve } from "./reserve.ts";
import { loadSessions, type LoadedSessions } from "./sessions.ts";
import type { Sqlite } from "./sqlite.ts";
import { readItems, readItemsAt, readTranscript } from "./transcripts.ts";
import { verifyDatabase } from "./verify.ts";

export interface StoreParts {
  sqlite: Sqlite;
  reserve: Reserve;
  paths: DatabasePaths;
  now: () => number;
  log: Logger;
}

const probeSetting = "store.probed-at";

export class SqliteStore implements Store {
  readonly #sqlite: Sqlite;
  readonly #paths: DatabasePaths;
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #committed: LoadedSessions;
  readonly #group: GroupCommit;
  readonly #listeners = new Set<() => void>();
  readonly #recent = new Recent();
  #cursor: number;
  #live: readonly SessionState[] | undefined;
  #projects: readonly ProjectRow[] | undefined;
  #closed = false;

  constructor({ sqlite, reserve, paths, now, log }: StoreParts) {
    this.#sqlite = sqlite;
    this.#paths = paths;
    this.#log = log;
    this.#now = now;
    this.#committed = loadSessions(sqlite);
    this.#cursor = readCursor(sqlite);
    this.#group = new GroupCommit({
      reserve,
      draft: (endingsOnly) =>
        new Draft(sqlite, this.#committed, Math.trunc(now()), endingsOnly ? () => diskFull(paths) : null),
      committed: (draft) => this.#adopt(draft),
      isDiskFull: (error) => isDiskFull(error, paths),
      failure: (error) => storageError(error, paths),
    });
    for (const id of this.#committed.rebuilt)
      log.warn("rebuilt a damaged session state from its events", { session: id });
    for (const id of this.#committed.damaged) log.error("a session's record is damaged", { session: id });
  }

  sessions(): readonly SessionState[] {
    this.#live ??= [...this.#committed.states.values()].filter((state) => state.intent.want !== "deleted");
    return this.#live;
  }

  session(id: SessionId): SessionState | null {
    return this.#committed.states.get(id) ?? null;
  }

  deleting(): readonly SessionState[] {
    return [...this.#committed.states.values()].filter((state) => state.intent.want === "deleted");
  }

  wasUsed(id: string): boolean {
    return this.#committed.used.has(id);
  }

  nextNumber(prefix: string): Promise<number> {
    return this.#enqueue((draft) => draft.nextNumber(prefix));
  }

  create(event: SessionCreated, more: FactEvent[] = []): Promise<SessionState> {
    return this.#enqueue((draft) => draft.create(event.id, [event, ...more]));
  }

  commit(id: SessionId, transition: Transition): Promise<SessionState> {
    return this.#enqueue((draft) => draft.append(id, transition(draft.state(id))));
  }

  applyVerb(id: SessionId, judge: JudgeVerb, attachments: readonly Uint8Array[] = []): Promise<SessionState> {
    return this.#enqueue((draft) => draft.applyVerb(id, judge, attachments));
  }

  chat(
    id: SessionId,
    launch: LaunchId,
    change: ChatTransition,
  ): Promise<{ state: SessionState; place: LaunchOffsets | null }> {
    return this.#enqueue((draft) => draft.chat(id, launch, change));
  }

  allLaunchOffsets(): LaunchOffsets[] {
    return this.#read(() => readAllOffsets(this.#sqlite));
  }

  launchOffsets(launch: LaunchId): LaunchOffsets | null {
    return this.#read(() => readOffsets(this.#sqlite, launch));
  }

  inputRow(launch: LaunchId, key: string): InputRow | null {
    return this.#read(() => readRow(this.#sqlite, launch, key));
  }

  inputAfter(launch: LaunchId, offset: number): InputRow[] {
    return this.#read(() => readRowsAfter(this.#sqlite, launch, offset));
  }

  forgetLaunch(launch: LaunchId): Promise<void> {
    return this.#enqueue((draft) => draft.forgetLaunch(launch));
  }

  async purgeDeleted(id: SessionId): Promise<void> {
    while (!this.#isPurged(id)) {
      await this.#enqueue((draft) => {
        if (!this.#isPurged(id)) draft.purge(id);
      });
    }
  }

  events(id: SessionId, after: number, limit: number): StoredEvent[] {
    return this.#read(() => readEvents(this.#sqlite, id, after, limit));
  }

  someEvents(id: SessionId, wanted: EventsWanted): StoredEvent[] {
    return this.#read(() => readSomeEvents(this.#sqlite, id, wanted));
  }

  agentText(id: SessionId, after: number): string {
    return this.#read(() => readAgentText(this.#sqlite, id, after));
  }

  log(after: number, limit: number, session?: SessionId): LogEntry[] {
    const recent = this.#recent.read(after, limit, session);
    if (recent !== null) return recent;
    return this.#read(() =>
      session === undefined
        ? readLog(this.#sqlite, after, limit)
        : readSessionLog(this.#sqlite, session, after, limit, this.session(session)?.seq ?? 0),
    );
  }

  cursor(): number {
    return this.#cursor;
  }

  onCommit(listener: () => void): () => void {
    // Wrapped, so the same function may listen twice and stop once.
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  prompt(id: SessionId, promptId: PromptId): PromptRow | null {
    return this.#read(() => readPrompt(this.#sqlite, id, promptId));
  }

  attachment(id: SessionId, promptId: PromptId, n: number): Uint8Array | null {
    const expected = this.prompt(id, promptId)?.attachments[n];
    if (expected === undefined) return null;
    const bytes = this.#read(() => readAttachment(this.#sqlite, { session: id, promptId, n }));
    if (bytes !== null && hash("sha256", bytes, "hex") === expected.digest) return bytes;
    throw new HoldfastError("storage", `An attachment of prompt ${promptId} of ${id} is damaged in the database.`, {
      hint: "Send it again under a new prompt id.",
    });
  }

  transcript(id: SessionId, format: number): TranscriptRow | null {
    return this.#read(() => readTranscript(this.#sqlite, id, format));
  }

  transcriptItems(id: SessionId, before: number, limit: number): ItemRow[] | null {
    return this.#read(() => readItems(this.#sqlite, id, before, limit));
  }

  transcriptItemsAt(id: SessionId, seqs: readonly number[]): ItemRow[] | null {
    return this.#read(() => readItemsAt(this.#sqlite, id, seqs));
  }

  saveTranscript(id: SessionId, advance: TranscriptAdvance): Promise<void> {
    return this.#enqueue((draft) => draft.saveTranscript(id, advance));
  }

  projects(): readonly ProjectRow[] {
    this.#projects ??= this.#read(() => readProjects(this.#sqlite));
    return this.#projects;
  }

  putProject(project: ProjectRow): Promise<void> {
    return this.#enqueue((draft) => draft.putProject(project.id, project));
  }

  removeProject(id: ProjectId): Promise<void> {
    return this.#enqueue((draft) => draft.putProject(id, null));
  }

  getSetting(key: string): string | null {
    return this.#read(() => readSetting(this.#sqlite, key));
  }

  putSetting(key: string, value: string | null): Promise<void> {
    return this.#enqueue((draft) => draft.putSetting(key, value));
  }

  async probe(): Promise<void> {
    this.#read(() => this.#sqlite.statement("SELECT id FROM sessions ORDER BY rowid DESC LIMIT 1").get());
    const value = String(this.#now());
    await this.putSetting(probeSetting, value);
    if (this.getSetting(probeSetting) !== null) return;
    throw new HoldfastError("storage", `Data written to ${this.#paths.path} cannot be read back.`);
  }

  verify(): string[] {
    return this.#read(() => verifyDatabase(this.#sqlite));
  }

  close(): void {
    if (this.#closed) return;
    this.#group.flush();
    this.#closed = true;
    this.#listeners.clear();
    this.#recent.clear();
    this.#sqlite.close();
  }

  #adopt(draft: Draft): void {
    for (const [id, state] of draft.states) {
      this.#committed.states.set(id, state);
      this.#committed.used.add(id);
    }
    for (const id of draft.purged) this.#committed.states.delete(id);
    if (draft.removesEvents) this.#recent.clear();
    this.#live = undefined;
    if (draft.changesProjects) this.#projects = undefined;
    if (!draft.hasEvents) return;
    this.#cursor = draft.cursor;
    // Only while anything follows.
    if (this.#listeners.size > 0) this.#recent.add(draft.written());
    for (const listener of this.#listeners) {
      try {
        listener();
      } catch (error) {
        this.#log.error("store listener failed", { error: messageOf(error) });
      }
    }
  }

  #isPurged(id: SessionId): boolean {
    return this.wasUsed(id) && !this.#committed.states.has(id) && !this.#committed.damaged.has(id);
  }

  #enqueue<T>(apply: (draft: Draft) => T): Promise<T> {
    return this.#closed ? Promise.reject(closed()) : this.#group.enqueue(apply);
  }

  #read<T>(read: () => T): T {
    if (this.#closed) throw closed();
    try {
      return read();
    } catch (error) {
      throw storageError(error, this.#paths);
    }
  }
}

function closed(): HoldfastError {
  return new HoldfastError("storage", "The database is closed: the daemon is stopping.");
}
