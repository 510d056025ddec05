/** The chat part of one commit: places, lines and answers, each step seeing those before it. */
import type { LaunchId, SessionId } from "../contract/ids.ts";
import type { ChatStep, LaunchPlace, OutboxRow } from "../ports/store.ts";
import {
  dropLaunch,
  dropLaunches,
  dropTexts,
  hasRow,
  readPlace,
  saveAnswer,
  savePlace,
  saveRow,
} from "./agent-input.ts";
import type { Sqlite } from "./sqlite.ts";

export class ChatDraft {
  readonly #sqlite: Sqlite;
  readonly #places = new Map<LaunchId, LaunchPlace>();
  readonly #rows = new Map<string, OutboxRow>();
  readonly #writes: (() => void)[] = [];

  constructor(sqlite: Sqlite) {
    this.#sqlite = sqlite;
  }

  get isEmpty(): boolean {
    return this.#writes.length === 0;
  }

  place(launch: LaunchId): LaunchPlace | null {
    return this.#places.get(launch) ?? readPlace(this.#sqlite, launch);
  }

  apply(session: SessionId, launch: LaunchId, before: LaunchPlace | null, step: ChatStep): LaunchPlace {
    const sqlite = this.#sqlite;
    if (before === null) this.#writes.push(() => dropLaunches(sqlite, session, launch));
    const place: LaunchPlace = before ?? {
      session,
      launch,
      inEnd: 0,
      outRead: 0,
      fence: null,
      settled: true,
      info: "{}",
    };
    const after = {
      ...place,
      inEnd: step.inEnd ?? place.inEnd,
      outRead: step.outRead ?? place.outRead,
      fence: step.fence === undefined ? place.fence : step.fence,
      info: step.info ?? place.info,
    };
    for (const { key, text } of step.lines ?? []) this.#line(after, key, text);
    for (const { key, answer } of step.answers ?? []) this.#writes.push(() => saveAnswer(sqlite, launch, key, answer));
    const { appendedTo } = step;
    if (appendedTo !== undefined) this.#writes.push(() => dropTexts(sqlite, launch, appendedTo));
    this.#places.set(launch, after);
    this.#writes.push(() => savePlace(sqlite, after));
    return after;
  }

  forget(launch: LaunchId): void {
    this.#writes.push(() => dropLaunch(this.#sqlite, launch));
  }

  write(): void {
    for (const write of this.#writes) write();
  }

  #line(place: LaunchPlace, key: string, text: string): void {
    const { launch } = place;
    const name = `${launch} ${key}`;
    if (this.#rows.has(name) || hasRow(this.#sqlite, launch, key)) return;
    const length = Buffer.byteLength(text);
    const row: OutboxRow = { launch, key, offset: place.inEnd, length, text, answer: null };
    place.inEnd += length;
    this.#rows.set(name, row);
    this.#writes.push(() => saveRow(this.#sqlite, row));
  }
}
