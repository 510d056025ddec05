/**
 * Ready transcripts: what was folded before is read back, later events are folded on top. What is stored is a cache that
 * says how far it goes; one that is missing, damaged or of another format is made anew, so no crash can harm it.
 */
import { setImmediate as breathe } from "node:timers/promises";
import type { Store } from "../ports/store.ts";
import { HoldfastError } from "../contract/error.ts";
import type { SessionId } from "../contract/ids.ts";
import { compactItem } from "../model/transcript/compact.ts";
import type { TranscriptItem, TranscriptPage } from "../contract/transcript.ts";
import { referred, type SavedTranscript } from "../model/transcript/state.ts";
import { TranscriptBuilder, transcriptFormat } from "../model/transcript/builder.ts";

const defaultItems = 200;
const maxItems = 1_000;
/** A page ends here, though with at least one item: an item may hold 128 KiB of words. */
const maxPageChars = 512 * 1024;
/** Between two readings other sessions have their turn: folding 500 events takes some 2 ms. */
const eventsAtOnce = 500;
/** An event of a flood holds a hundred thousand characters: fewer of these are read at once, first of all to see. */
const firstEvents = 32;
const charsAtOnce = 2 * 1024 * 1024;
/** Whoever reads folds fewer events than these quicker than they are written. */
const worthSaving = 300;
/** A long past is written in steps, so that it is never in memory as a whole. */
const itemsPerSave = 2_000;
const charsPerSave = 4 * 1024 * 1024;

interface Fold {
  builder: TranscriptBuilder;
  /** Where the stored part ends; null when nothing of it could be used. */
  from: number | null;
  /** What is not stored yet. */
  changed: Map<number, TranscriptItem>;
  removed: Set<number>;
}

interface Window {
  tail: number;
  before: number;
}

export class Transcripts {
  readonly #store: Store;
  /** One fold of a session at a time: what it reads must not change under it. */
  readonly #busy = new Map<SessionId, Promise<unknown>>();

  constructor(store: Store) {
    this.#store = store;
  }

  read(id: SessionId, query: Record<string, string>): Promise<TranscriptPage> {
    const tail = Math.min(wholeNumber(query, "tail", defaultItems), maxItems);
    const before = wholeNumber(query, "before", Number.MAX_SAFE_INTEGER);
    return this.#alone(id, async () => {
      const fold = await foldOn(this.#store, id, restore(this.#store, id));
      const page = pageOf(this.#store, id, fold, { tail, before });
      // Damage: made anew from the events, which have checksums of their own.
      if (page === null) {
        const anew = await foldOn(this.#store, id, null);
        await save(this.#store, id, anew);
        const again = pageOf(this.#store, id, anew, { tail, before });
        if (again === null) throw new Error(`the transcript of ${id} cannot be read back`);
        return again;
      }
      // Not waited for by whoever asked, and a cache that could not be written is no failure.
      if (fold.builder.seq - (fold.from ?? 0) >= worthSaving) {
        void this.#alone(id, () => save(this.#store, id, fold)).catch(() => undefined);
      }
      return page;
    });
  }

  /** Folds on and keeps the result. Once the agent works again the rest is left for the end of that turn. */
  advance(id: SessionId): Promise<void> {
    return this.#alone(id, async () => {
      const session = this.#store.session(id);
      if (session === null || session.intent.want === "deleted") return;
      const isBusy = (): boolean => this.#store.session(id)?.turn.turn === "open";
      await save(this.#store, id, await foldOn(this.#store, id, restore(this.#store, id), isBusy));
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

/** A fold that goes on from what is stored; null when nothing of it can be used. */
function restore(store: Store, id: SessionId): Fold | null {
  const row = store.transcript(id, transcriptFormat);
  if (row === null || row.seq > (store.session(id)?.seq ?? 0)) return null;
  const saved = JSON.parse(row.saved) as SavedTranscript;
  const items = store.transcriptItemsAt(id, referred(saved.refs));
  if (items === null) return null;
  const builder = new TranscriptBuilder(saved, items.map(parse));
  return { builder, from: row.seq, changed: new Map(), removed: new Set() };
}

async function foldOn(store: Store, id: SessionId, stored: Fold | null, isEnough = () => false): Promise<Fold> {
  const fold = stored ?? { builder: new TranscriptBuilder(), from: null, changed: new Map(), removed: new Set() };
  const { builder, changed, removed } = fold;
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
    if (events.length < atOnce || isEnough()) return fold;
    chars += read;
    atOnce = Math.max(1, Math.min(eventsAtOnce, Math.floor((charsAtOnce * atOnce) / (read + 1))));
    builder.forgetSettled();
    if (changed.size > itemsPerSave || chars > charsPerSave) {
      // On a full disk it is folded all the same, and kept in memory for this once.
      await save(store, id, fold).catch(() => undefined);
      chars = 0;
    }
    await breathe();
  }
}

/** From here on the fold continues what is stored. */
async function save(store: Store, id: SessionId, fold: Fold): Promise<void> {
  const { builder, from, changed, removed } = fold;
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
  fold.from = seq;
  changed.clear();
  removed.clear();
}

/** Null when what is stored cannot be believed. */
function pageOf(store: Store, id: SessionId, fold: Fold, { tail, before }: Window): TranscriptPage | null {
  const { builder, from, changed, removed } = fold;
  // One more than asked for tells whether there are older ones.
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
  // Of a page of older ones too: whoever reads it may have nothing else yet.
  const pinned = referred(refs).flatMap((seq) => (seq < first ? [compactItem(builder.item(seq)!)] : []));
  return { ...head, items, older: newest.length > items.length, pinned, refs };
}

function parse({ body }: { body: string }): TranscriptItem {
  return JSON.parse(body) as TranscriptItem;
}

function wholeNumber(query: Record<string, string>, name: string, otherwise: number): number {
  const value = Number(query[name] ?? otherwise);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new HoldfastError("usage", `\`${name}\` is a whole number above 0.`);
}
