/**
 * What one commit will write. Changes are applied one after another, each seeing the previous ones; a refused change
 * leaves no trace. Nothing reaches the database before write(), which is all or nothing.
 */
import { HoldfastError } from "../contract/errors.ts";
import type { FactEvent, LogEntry, SessionEvent } from "../contract/event.ts";
import type { LaunchId, PromptId, SessionId } from "../contract/ids.ts";
import { reduce, reduceOwn } from "../model/reduce.ts";
import type { IntentName, SessionState } from "../model/session.ts";
import type {
  ChatTransition,
  JudgeVerb,
  LaunchOffsets,
  ProjectRow,
  TranscriptAdvance,
  ChatStep,
  InputRow,
} from "../ports/store.ts";
import { saveAttachment, digestOf, readAdmission, saveAdmission, type Admission } from "./prompts.ts";
import { appendEvents, encodeEvent, type EventRow } from "./events.ts";
import { readNumber, removeProject, saveNumber, saveProject, saveSetting } from "./registry.ts";
import { purgeSession, saveSession, type LoadedSessions } from "./sessions.ts";
import type { Sqlite } from "./sqlite.ts";
import { saveTranscript } from "./transcripts.ts";
import {
  dropLaunch,
  dropLaunches,
  dropTexts,
  hasRow,
  readOffsets,
  saveResponse,
  saveOffsets,
  saveRow,
} from "./agent-input.ts";

class ChatDraft {
  readonly #sqlite: Sqlite;
  readonly #places = new Map<LaunchId, LaunchOffsets>();
  readonly #rows = new Map<string, InputRow>();
  readonly #writes: (() => void)[] = [];

  constructor(sqlite: Sqlite) {
    this.#sqlite = sqlite;
  }

  get isEmpty(): boolean {
    return this.#writes.length === 0;
  }

  place(launch: LaunchId): LaunchOffsets | null {
    return this.#places.get(launch) ?? readOffsets(this.#sqlite, launch);
  }

  apply(session: SessionId, launch: LaunchId, before: LaunchOffsets | null, step: ChatStep): LaunchOffsets {
    const sqlite = this.#sqlite;
    if (before === null) this.#writes.push(() => dropLaunches(sqlite, session, launch));
    const place: LaunchOffsets = before ?? {
      session,
      launch,
      inEnd: 0,
      outRead: 0,
      replayFilter: null,
      settled: true,
      info: "{}",
    };
    const after = {
      ...place,
      inEnd: step.inEnd ?? place.inEnd,
      outRead: step.outRead ?? place.outRead,
      replayFilter: step.replayFilter === undefined ? place.replayFilter : step.replayFilter,
      info: step.info ?? place.info,
    };
    for (const { key, text } of step.lines ?? []) this.#line(after, key, text);
    for (const { key, answer } of step.answers ?? [])
      this.#writes.push(() => saveResponse(sqlite, launch, key, answer));
    const { appendedTo } = step;
    if (appendedTo !== undefined) this.#writes.push(() => dropTexts(sqlite, launch, appendedTo));
    this.#places.set(launch, after);
    this.#writes.push(() => saveOffsets(sqlite, after));
    return after;
  }

  forget(launch: LaunchId): void {
    this.#writes.push(() => dropLaunch(this.#sqlite, launch));
  }

  write(): void {
    for (const write of this.#writes) write();
  }

  #line(place: LaunchOffsets, key: string, text: string): void {
    const { launch } = place;
    const name = `${launch} ${key}`;
    if (this.#rows.has(name) || hasRow(this.#sqlite, launch, key)) return;
    const length = Buffer.byteLength(text);
    const row: InputRow = { launch, key, offset: place.inEnd, length, text, answer: null };
    place.inEnd += length;
    this.#rows.set(name, row);
    this.#writes.push(() => saveRow(this.#sqlite, row));
  }
}

/** Intents that must be recorded even on a full disk, with what follows from them. */
const endings: ReadonlySet<IntentName> = new Set<IntentName>(["stopped", "killed", "deleted"]);

export class Draft {
  /** States after the commit. */
  readonly states = new Map<SessionId, SessionState>();
  /** Sessions whose last event this commit removes. */
  readonly purged = new Set<SessionId>();
  readonly #committed: LoadedSessions;
  readonly #sqlite: Sqlite;
  readonly #at: number;
  readonly #noRoom: (() => Error) | null;
  readonly #rows: EventRow[] = [];
  readonly #admissions = new Map<string, Admission>();
  readonly #numbers = new Map<string, number>();
  readonly #settings = new Map<string, string | null>();
  readonly #projects = new Map<string, ProjectRow | null>();
  readonly #purges = new Set<SessionId>();
  /** Attachments and saved transcripts. */
  readonly #large: (() => void)[] = [];
  readonly #chat: ChatDraft;
  /** Whether a stop, kill or deletion is among the changes. */
  endsSomething = false;
  /** After write(). */
  cursor = 0;

  /** With `noRoom` only stops, kills and deletions are accepted; everything else throws its error. */
  constructor(sqlite: Sqlite, committed: LoadedSessions, at: number, noRoom: (() => Error) | null) {
    this.#sqlite = sqlite;
    this.#chat = new ChatDraft(sqlite);
    this.#committed = committed;
    this.#at = at;
    this.#noRoom = noRoom;
  }

  get hasEvents(): boolean {
    return this.#rows.length > 0;
  }

  get removesEvents(): boolean {
    return this.#purges.size > 0;
  }

  get changesProjects(): boolean {
    return this.#projects.size > 0;
  }

  /** What write() wrote, and its size. */
  written(): { entries: LogEntry[]; bytes: number } {
    const first = this.cursor - this.#rows.length + 1;
    let bytes = 0;
    const entries = this.#rows.map(({ session, seq, at, type, body }, index) => {
      bytes += body.length;
      return { cursor: first + index, session, seq, at, type, body };
    });
    return { entries, bytes };
  }

  state(id: SessionId): SessionState {
    const state = this.states.get(id) ?? this.#committed.states.get(id);
    if (state !== undefined && !this.#purges.has(id)) return state;
    if (this.#committed.damaged.has(id)) {
      throw new HoldfastError("storage", `The record of session ${id} is damaged in the database.`, {
        hint: "This session is left alone. List all damage: holdfast doctor",
      });
    }
    throw new HoldfastError("not-found", `Session ${id} not found`, { hint: "List sessions: holdfast session ls" });
  }

  create(id: SessionId, events: FactEvent[]): SessionState {
    if (this.#isUsed(id)) {
      throw new HoldfastError("conflict", `Session id ${id} was already used.`, {
        hint: "Session ids are never reused.",
      });
    }
    return this.#append(id, null, events);
  }

  append(id: SessionId, events: readonly FactEvent[]): SessionState {
    const before = this.state(id);
    return events.length === 0 ? before : this.#append(id, before, events);
  }

  applyVerb(id: SessionId, judge: JudgeVerb, attachments: readonly Uint8Array[]): SessionState {
    const before = this.state(id);
    const judged = judge(before);
    if (judged === null || judged.events.length === 0) return before;
    if (judged.seq !== before.seq) throw new Error(`a verb on ${id} was judged against another state`);
    return this.#append(id, before, judged.events, attachments);
  }

  #append(
    id: SessionId,
    before: SessionState | null,
    events: readonly SessionEvent[],
    attachments: readonly Uint8Array[] = [],
  ): SessionState {
    let state = before;
    const rows: EventRow[] = [];
    const admissions: Admission[] = [];
    for (const event of events) {
      const seq = (state?.seq ?? 0) + 1;
      if (event.type === "prompt.admitted") {
        const digest = digestOf(event.text, event.attachments);
        const known = this.#admission(id, event.promptId);
        if (known !== null && before !== null) return retried(known, digest, before);
        admissions.push({ session: id, promptId: event.promptId, seq, digest });
      }
      const stored = { ...event, seq, at: this.#at };
      state = state === null || state === before ? reduce(state, stored) : reduceOwn(state, stored);
      rows.push(encodeEvent(id, seq, this.#at, event));
    }
    if (state === null) throw new Error(`session ${id} was created without an event`);
    if (before?.intent.want === "deleted" && state.intent.want !== "deleted") {
      throw new HoldfastError("conflict", `Session ${id} was deleted and cannot be restored.`);
    }
    if (new Set(admissions.map((admission) => admission.promptId)).size < admissions.length) {
      throw new Error(`one change of ${id} admits a prompt twice`);
    }
    // The state after the change decides: a prompt that wakes a stopped session is not an ending.
    const ends = before !== null && endings.has(state.intent.want);
    if (!ends) this.#requireRoom();
    this.endsSomething ||= ends;
    this.states.set(id, state);
    for (const row of rows) this.#rows.push(row);
    for (const admission of admissions) this.#admissions.set(key(id, admission.promptId), admission);
    const [promptId] = admissions.map((admission) => admission.promptId);
    if (promptId !== undefined) {
      for (const [n, bytes] of attachments.entries()) {
        this.#large.push(() => saveAttachment(this.#sqlite, { session: id, promptId, n }, bytes));
      }
    }
    return state;
  }

  nextNumber(prefix: string): number {
    this.#requireRoom();
    let next = (this.#numbers.get(prefix) ?? readNumber(this.#sqlite, prefix)) + 1;
    // An issue's number may already be a session id.
    while (this.#isUsed(`${prefix}-${next}`)) next++;
    this.#numbers.set(prefix, next);
    return next;
  }

  putSetting(key: string, value: string | null): void {
    this.#requireRoom();
    this.#settings.set(key, value);
  }

  putProject(id: string, project: ProjectRow | null): void {
    this.#requireRoom();
    this.#projects.set(id, project);
  }

  chat(id: SessionId, launch: LaunchId, change: ChatTransition): { state: SessionState; place: LaunchOffsets | null } {
    const state = this.state(id);
    const before = this.#chat.place(launch);
    const step = change(state, before);
    if (step === null) return { state, place: before };
    // Events first: if they are refused, nothing else of the step is written either.
    const after = this.append(id, step.events ?? []);
    if ((step.events ?? []).length === 0 && !endings.has(state.intent.want)) this.#requireRoom();
    return { state: after, place: this.#chat.apply(id, launch, before, step) };
  }

  saveTranscript(id: SessionId, advance: TranscriptAdvance): void {
    this.#requireRoom();
    if (this.state(id).intent.want !== "deleted") {
      this.#large.push(() => saveTranscript(this.#sqlite, id, advance));
    }
  }

  forgetLaunch(launch: LaunchId): void {
    this.#chat.forget(launch);
  }

  purge(id: SessionId): void {
    if (this.#purges.has(id)) return;
    if (this.state(id).intent.want !== "deleted") {
      throw new HoldfastError("conflict", `Session ${id} is not deleted, so it cannot be purged.`);
    }
    this.#purges.add(id);
  }

  write(): void {
    const sqlite = this.#sqlite;
    if (this.#isEmpty()) return;
    sqlite.transaction(() => {
      for (const state of this.states.values()) saveSession(sqlite, state);
      if (this.#rows.length > 0) this.cursor = appendEvents(sqlite, this.#rows);
      for (const admission of this.#admissions.values()) saveAdmission(sqlite, admission);
      for (const [prefix, last] of this.#numbers) saveNumber(sqlite, prefix, last);
      for (const [key, value] of this.#settings) saveSetting(sqlite, key, value);
      for (const [id, project] of this.#projects) {
        if (project === null) removeProject(sqlite, id);
        else saveProject(sqlite, project);
      }
      this.#chat.write();
      for (const write of this.#large) write();
      for (const id of this.#purges) if (purgeSession(sqlite, id)) this.purged.add(id);
    });
  }

  #isEmpty(): boolean {
    const parts = [this.#rows, [...this.#numbers], [...this.#settings], [...this.#projects], [...this.#purges]];
    if (this.#large.length > 0) return false;
    return this.#chat.isEmpty && parts.every((part) => part.length === 0);
  }

  #isUsed(id: string): boolean {
    return this.#committed.used.has(id) || this.states.has(id as SessionId);
  }

  #admission(id: SessionId, promptId: PromptId): Admission | null {
    return this.#admissions.get(key(id, promptId)) ?? readAdmission(this.#sqlite, id, promptId);
  }

  #requireRoom(): void {
    if (this.#noRoom !== null) throw this.#noRoom();
  }
}

/** A retry writes nothing, whatever else the change contains: you may have stopped the session in between. */
function retried(known: Admission, digest: string, state: SessionState): SessionState {
  if (known.digest === digest) return state;
  throw new HoldfastError("conflict", `Prompt id ${known.promptId} was already used with a different text.`, {
    hint: "Give each prompt its own id; only a retry of the same text may repeat one.",
  });
}

function key(id: string, promptId: string): string {
  return `${id} ${promptId}`;
}
