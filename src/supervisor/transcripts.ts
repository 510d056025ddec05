/**
 * Transcripts, stored as a cache that names the last event it covers: a read loads it and reduces the later events on top.
 * A missing or damaged cache, or one of another format, is rebuilt from the events, so no crash can harm it.
 */
import { setImmediate as breathe } from "node:timers/promises";
import type { Store } from "../ports/store.ts";
import type { SessionId } from "../contract/ids.ts";
import { compactItem } from "../model/transcript/compact.ts";
import type { TranscriptItem, TranscriptPage } from "../contract/transcript.ts";
import { referred, type SavedTranscript } from "../model/transcript/state.ts";
import { TranscriptBuilder, transcriptFormat } from "../model/transcript/builder.ts";

/** The limit of a page, though it always has at least one item: an item may contain 128 KiB of text. */
const maxPageChars = 512 * 1024;
/** Other sessions run between two batches: reducing 500 events takes some 2 ms. */
const eventsAtOnce = 500;
/** An event of a flood contains a hundred thousand characters: the first batch is small, to measure. */
const firstEvents = 32;
const charsAtOnce = 2 * 1024 * 1024;
/** Reducing fewer events than this is faster than writing them. */
const worthSaving = 300;
/** A long history is written in steps, so that it is never in memory as a whole. */
const itemsPerSave = 2_000;
const charsPerSave = 4 * 1024 * 1024;

/** A turn's end is often followed by the next turn; the cache can wait until then. */
const defaultIdleMs = 2_000;

interface OpenTranscript {
  builder: TranscriptBuilder;
  /** The last event of the stored part; null if none of it was usable. */
  from: number | null;
  /** Not stored yet. */
  changed: Map<number, TranscriptItem>;
  removed: Set<number>;
}

interface Window {
  /** At most this many items. */
  tail: number;
  before: number;
}

export class Transcripts {
  readonly #store: Store;
  readonly #idleMs: number;
  /** One reader per session at a time: the cache must not change under it. */
  readonly #busy = new Map<SessionId, Promise<unknown>>();
  readonly #timers = new Map<SessionId, NodeJS.Timeout>();

  constructor(store: Store, idleMs = defaultIdleMs) {
    this.#store = store;
    this.#idleMs = idleMs;
  }

  close(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }

  read(id: SessionId, window: Window): Promise<TranscriptPage> {
    return this.#alone(id, async () => {
      const transcript = await readOn(this.#store, id, restore(this.#store, id));
      const page = pageOf(this.#store, id, transcript, window);
      // Damaged: rebuilt from the events, which have their own checksums.
      if (page === null) {
        const rebuilt = await readOn(this.#store, id, null);
        await save(this.#store, id, rebuilt);
        const again = pageOf(this.#store, id, rebuilt, window);
        if (again === null) throw new Error(`the transcript of ${id} cannot be read back`);
        return again;
      }
      // In the background, and a cache that cannot be written is not a failure.
      if (transcript.builder.seq - (transcript.from ?? 0) >= worthSaving) {
        void this.#alone(id, () => save(this.#store, id, transcript)).catch(() => undefined);
      }
      return page;
    });
  }

  /** Updates the cache after a while. A daemon that stops first leaves it to the next reader. */
  turnEnded(id: SessionId): void {
    clearTimeout(this.#timers.get(id));
    const timer = setTimeout(() => {
      this.#timers.delete(id);
      // A cache that cannot be written (a full disk, a deleted session) is not a failure.
      this.advance(id).catch(() => undefined);
    }, this.#idleMs);
    this.#timers.set(id, timer.unref());
  }

  /** Brings the cache up to date. Once the agent works again the rest is left for the end of that turn. */
  advance(id: SessionId): Promise<void> {
    return this.#alone(id, async () => {
      const session = this.#store.session(id);
      if (session === null || session.intent.want === "deleted") return;
      const isBusy = (): boolean => this.#store.session(id)?.turn.turn === "open";
      await save(this.#store, id, await readOn(this.#store, id, restore(this.#store, id), isBusy));
    });
  }

  #alone<T>(id: SessionId, work: () => Promise<T>): Promise<T> {
    const mine = (this.#busy.get(id) ?? Promise.resolve()).then(work, work);
    this.#busy.set(id, mine);
    const forget = (): void => {
      if (this.#busy.get(id) === mine) this.#busy.delete(id);
    };
    mine.then(forget, forget);
    return mine;
  }
}

/** Continues from the stored cache; null if none of it is usable. */
function restore(store: Store, id: SessionId): OpenTranscript | null {
  const row = store.transcript(id, transcriptFormat);
  if (row === null || row.seq > (store.session(id)?.seq ?? 0)) return null;
  const saved = JSON.parse(row.saved) as SavedTranscript;
  const items = store.transcriptItemsAt(id, referred(saved.refs));
  if (items === null) return null;
  const builder = new TranscriptBuilder(saved, items.map(parse));
  return { builder, from: row.seq, changed: new Map(), removed: new Set() };
}

async function readOn(
  store: Store,
  id: SessionId,
  stored: OpenTranscript | null,
  isEnough = () => false,
): Promise<OpenTranscript> {
  const transcript = stored ?? { builder: new TranscriptBuilder(), from: null, changed: new Map(), removed: new Set() };
  const { builder, changed, removed } = transcript;
  let atOnce = firstEvents;
  for (let chars = 0; ;) {
    const events = store.events(id, builder.seq, atOnce);
    let read = 0;
    for (const event of events) {
      const change = builder.push(event);
      for (const seq of change.removed) {
        changed.delete(seq);
        removed.add(seq);
      }
      for (const seq of change.changed) changed.set(seq, builder.item(seq)!);
      if ("text" in event) read += event.text.length;
    }
    if (events.length < atOnce || isEnough()) return transcript;
    chars += read;
    atOnce = Math.max(1, Math.min(eventsAtOnce, Math.floor((charsAtOnce * atOnce) / (read + 1))));
    builder.forgetSettled();
    if (changed.size > itemsPerSave || chars > charsPerSave) {
      // On a full disk the result stays in memory, for this read only.
      await save(store, id, transcript).catch(() => undefined);
      chars = 0;
    }
    await breathe();
  }
}

/** Afterwards the transcript continues from the stored cache. */
async function save(store: Store, id: SessionId, transcript: OpenTranscript): Promise<void> {
  const { builder, from, changed, removed } = transcript;
  const { seq } = builder;
  if (seq === from) return;
  await store.saveTranscript(id, {
    from,
    format: transcriptFormat,
    seq,
    saved: JSON.stringify(builder.saved()),
    items: [...changed].map(([at, item]) => ({ seq: at, body: JSON.stringify(compactItem(item)) })),
    removed: [...removed],
  });
  transcript.from = seq;
  changed.clear();
  removed.clear();
}

/** Null if the stored cache is damaged. */
function pageOf(
  store: Store,
  id: SessionId,
  transcript: OpenTranscript,
  { tail, before }: Window,
): TranscriptPage | null {
  const { builder, from, changed, removed } = transcript;
  // One more than requested shows whether there are older ones.
  const wanted = tail + 1;
  const rows = from === null ? [] : store.transcriptItems(id, before, wanted + removed.size);
  if (rows === null) return null;
  const found = new Map(rows.map(({ seq, body }) => [seq, body]));
  for (const seq of removed) found.delete(seq);
  for (const [seq, item] of changed) if (seq < before) found.set(seq, JSON.stringify(compactItem(item)));
  const newest = [...found].toSorted(([a], [b]) => b - a).slice(0, wanted);
  const items: TranscriptItem[] = [];
  let chars = 0;
  for (const [, body] of newest.slice(0, tail)) {
    chars += body.length;
    if (items.length > 0 && chars > maxPageChars) break;
    items.push(parse({ body }));
  }
  items.reverse();
  const { head, refs } = builder.saved();
  const first = items[0]?.seq ?? before;
  // On a page of older items too: the reader may have no other page yet.
  const pinned = referred(refs).flatMap((seq) => (seq < first ? [compactItem(builder.item(seq)!)] : []));
  return { ...head, items, older: newest.length > items.length, pinned, refs };
}

function parse({ body }: { body: string }): TranscriptItem {
  return JSON.parse(body) as TranscriptItem;
}
