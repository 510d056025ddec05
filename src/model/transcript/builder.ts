/**
 * Builds the readable transcript from a session's events, for the daemon's snapshot, the CLI and the dashboard. Accepts
 * events from the wire (`at` as ISO text) and from the store (milliseconds); the transcript has milliseconds.
 *
 * An event costs the same however long the transcript is: a map has each item under the event that placed it, and only
 * items that a later event can still change are looked up. So a transcript can be saved, and continued later with its
 * head and those few items (see `saved`).
 */
import type { StoredEvent } from "../../contract/event.ts";
import { reduceEvent } from "./reducer.ts";
import type {
  PermissionItem,
  ToolItem,
  Transcript,
  TranscriptHead,
  TranscriptItem,
  TranscriptPage,
} from "../../contract/transcript.ts";
import { TranscriptState, referred, type SavedTranscript } from "./state.ts";

/** An event of the API or of the store. */
export interface TranscriptEvent {
  seq: number;
  at: number | string;
  type: string;
}

/** Items that one event changed, by their `seq`. An item that moved is removed and placed. */
export interface TranscriptChange {
  /** Placed or replaced. */
  changed: readonly number[];
  removed: readonly number[];
  /** Whether anything but the items changed. */
  head: boolean;
}

/** Of saved transcripts: raised when the reducer returns another result for the same events. */
export const transcriptFormat = 2;

export function transcriptOf(events: Iterable<TranscriptEvent>): Transcript {
  const builder = new TranscriptBuilder();
  for (const event of events) builder.push(event);
  return builder.transcript();
}

/** Continues a page. */
export function builderOf(page: TranscriptPage): TranscriptBuilder {
  const { items, pinned, refs, older: _older, ...head } = page;
  return new TranscriptBuilder({ head, refs }, items, pinned);
}

export class TranscriptBuilder {
  readonly #state: TranscriptState;
  /** Items before this one are known but not shown, because others between them are missing. */
  #shownFrom: number;
  #shown: Transcript | null = null;

  /** Continues a saved transcript; `items` and `pinned`, in order, must contain those that its refs name. */
  constructor(
    saved: SavedTranscript | null = null,
    items: readonly TranscriptItem[] = [],
    pinned: readonly TranscriptItem[] = [],
  ) {
    this.#state = new TranscriptState(saved, [...pinned, ...items]);
    this.#shownFrom = pinned.length === 0 ? 0 : (items[0]?.seq ?? this.seq + 1);
  }

  get seq(): number {
    return this.#state.head.seq;
  }

  /** The same object until something changes. */
  transcript(): Transcript {
    if (this.#shown === null) {
      const items = [...this.#state.items.values()];
      const from = this.#shownFrom === 0 ? 0 : items.findIndex(({ seq }) => seq >= this.#shownFrom);
      this.#shown = { ...this.#state.head, items: from === -1 ? [] : from === 0 ? items : items.slice(from) };
    }
    return this.#shown;
  }

  item(seq: number): TranscriptItem | undefined {
    return this.#state.items.get(seq);
  }

  get head(): TranscriptHead {
    return this.#state.head;
  }

  /** The tool call that an item at `seq` refers to: agents may reuse an id in a later turn. */
  tool(toolCallId: string, seq: number): ToolItem | undefined {
    const items = [...this.#state.items.values()].filter((item) => item.item === "tool");
    return items.findLast((item) => item.toolCallId === toolCallId && item.seq < seq);
  }

  /** Unanswered permission requests, oldest first. */
  openPermissions(): PermissionItem[] {
    const items = [...this.#state.permissions.values()].map((seq) => this.#state.find(seq));
    return items.filter((item) => item?.item === "permission");
  }

  saved(): SavedTranscript {
    return this.#state.saved();
  }

  /** Adds an older page of items; an item that is already known is newer. */
  prepend(older: readonly TranscriptItem[]): void {
    const known = new Map([...older.map((item) => [item.seq, item] as const), ...this.#state.items]);
    this.#state.items.clear();
    for (const [seq, item] of [...known].toSorted(([a], [b]) => a - b)) this.#state.items.set(seq, item);
    this.#shownFrom = Math.min(this.#shownFrom, older[0]?.seq ?? 0);
    this.#shown = null;
  }

  /** Drops items that no later event can change; the caller has stored them. */
  forgetSettled(): void {
    const kept = new Set(referred(this.saved().refs));
    for (const seq of this.#state.items.keys()) if (!kept.has(seq)) this.#state.items.delete(seq);
    this.#shown = null;
  }

  /** An event that is already in the transcript changes nothing. */
  push(event: TranscriptEvent): TranscriptChange {
    if (event.seq <= this.#state.head.seq) return noChange;
    const before = this.#state.head;
    this.#state.changed = [];
    this.#state.removed = [];
    const at = typeof event.at === "number" ? event.at : Date.parse(event.at);
    reduceEvent(this.#state, { ...event, at } as StoredEvent);
    const head = this.#state.head !== before;
    this.#state.head = { ...this.#state.head, seq: event.seq };
    this.#shown = null;
    return { changed: this.#state.changed, removed: this.#state.removed, head };
  }
}

const noChange: TranscriptChange = { changed: [], removed: [], head: false };
