/**
 * One session's transcript as this page has it: the newest items first from the cache, then from the daemon; what is
 * older when it is asked for; what is new from the stream, folded in once a frame. The daemon's log is the truth: a gap
 * in the sequence is read again, and a log that is shorter than ours replaces what is here.
 */
import { isLastPage } from "../../contract/stream.ts";
import type { TranscriptItem, TranscriptPage } from "../../contract/transcript.ts";
import type { TranscriptHead } from "../../contract/transcript.ts";
import { referred } from "../../model/transcript/state.ts";
import { builderOf, TranscriptBuilder } from "../../model/transcript/builder.ts";
import type { EventJson } from "../../contract/stream.ts";

/** Where the feed gets things from; given, so that it can be tested without a daemon. */
export interface FeedSource {
  newest(): Promise<TranscriptPage>;
  older(before: number): Promise<Pick<TranscriptPage, "items" | "older">>;
  /** At most `eventsAtOnce`, after that one. */
  events(since: number): Promise<EventJson[]>;
  /** Calls back at the next frame. */
  nextFrame(flush: () => void): void;
}

export interface FeedState {
  items: readonly TranscriptItem[];
  head: TranscriptHead;
  phase: "loading" | "ready";
  /** Why the last attempt to read failed; tried again when the line is back. */
  fault: unknown;
  older: boolean;
  loadingOlder: boolean;
  /** Whether this state came from the last by putting items before the first. */
  shifted: boolean;
}

export const eventsAtOnce = 1_000;
/** Further behind than this, the newest page is quicker than every event since. */
const catchUpLimit = 5_000;

export class TranscriptFeed {
  readonly #source: FeedSource;
  #builder: TranscriptBuilder;
  #state: FeedState;
  readonly #listeners = new Set<() => void>();
  /** Events that came and are not folded in yet, by sequence. */
  readonly #waiting = new Map<number, EventJson>();
  #flushing = false;
  #reading: Promise<void> | null = null;
  /** What the daemon said is the session's last event. */
  #known = 0;
  #closed = false;

  constructor(source: FeedSource, cached: TranscriptPage | null) {
    this.#source = source;
    this.#builder = cached === null ? new TranscriptBuilder() : builderOf(cached);
    this.#state = {
      items: cached?.items ?? [],
      head: this.#builder.saved().head,
      phase: cached === null ? "loading" : "ready",
      fault: null,
      older: cached?.older ?? false,
      loadingOlder: false,
      shifted: false,
    };
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly state = (): FeedState => this.#state;

  /** To be kept for the next visit: the last `count` items, and what the fold needs to go on. */
  page(count: number): TranscriptPage {
    const { head, refs } = this.#builder.saved();
    const items = this.#state.items.slice(-count);
    const first = items[0]?.seq ?? head.seq + 1;
    const pinned = referred(refs).flatMap((seq) => (seq < first ? (this.#builder.item(seq) ?? []) : []));
    return { ...head, refs, items, pinned, older: this.#state.older || items.length < this.#state.items.length };
  }

  close(): void {
    this.#closed = true;
    this.#listeners.clear();
  }

  /** The session stands at `seq`, says the daemon: reads what is missing here. */
  knows(seq: number): void {
    this.#known = seq;
    // Another database, or one restored from a copy: what is here never happened there.
    if (this.#state.phase === "ready" && seq < this.#builder.seq) return this.#startOver();
    if (this.#state.phase === "loading" || seq > this.#last()) this.#read();
  }

  take(events: readonly EventJson[]): void {
    for (const event of events) {
      if (event.seq > this.#builder.seq) this.#waiting.set(event.seq, event);
      this.#known = Math.max(this.#known, event.seq);
    }
    this.#schedule();
  }

  async loadOlder(): Promise<void> {
    const { older, loadingOlder, items } = this.#state;
    const first = items[0];
    if (!older || loadingOlder || first === undefined) return;
    this.#set({ loadingOlder: true });
    try {
      const page = await this.#source.older(first.seq);
      if (this.#state.items[0] !== first && this.#state.items[0]?.seq !== first.seq) return;
      // What is known here of one of them has the later events in it.
      const before = page.items.map((item) => this.#builder.item(item.seq) ?? item);
      this.#set({
        items: [...before, ...this.#state.items],
        older: page.older && page.items.length > 0,
        shifted: page.items.length > 0,
        fault: null,
        loadingOlder: false,
      });
    } catch (fault) {
      this.#set({ fault });
    } finally {
      if (this.#state.loadingOlder) this.#set({ loadingOlder: false });
    }
  }

  /** Everything, page by page; `wanted` says whether to go on. */
  async loadAll(wanted: () => boolean = () => true): Promise<void> {
    while (this.#state.older && wanted() && !this.#closed) {
      const before = this.#state.items.length;
      // oxlint-disable-next-line no-await-in-loop -- each page says where the next one ends
      await this.loadOlder();
      if (this.#state.items.length === before && !this.#state.loadingOlder) return;
    }
  }

  retry(): void {
    this.#set({ fault: null });
    this.#read();
  }

  /** The last event that is here or waits without a gap. */
  #last(): number {
    let last = this.#builder.seq;
    while (this.#waiting.has(last + 1)) last += 1;
    return last;
  }

  #schedule(): void {
    if (this.#flushing || this.#closed) return;
    this.#flushing = true;
    this.#source.nextFrame(() => {
      this.#flushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#closed || this.#state.phase === "loading") return;
    const changed = new Set<number>();
    const removed = new Set<number>();
    for (;;) {
      const next = this.#waiting.get(this.#builder.seq + 1);
      if (next === undefined) break;
      this.#waiting.delete(next.seq);
      const change = this.#builder.push(next);
      for (const seq of change.removed) {
        removed.add(seq);
        changed.delete(seq);
      }
      for (const seq of change.changed) changed.add(seq);
    }
    for (const seq of this.#waiting.keys()) if (seq <= this.#builder.seq) this.#waiting.delete(seq);
    this.#show(changed, removed);
    if (this.#waiting.size > 0) this.#read();
  }

  #show(changed: ReadonlySet<number>, removed: ReadonlySet<number>): void {
    const { head } = this.#builder.saved();
    if (head.seq === this.#state.head.seq) return;
    let { items } = this.#state;
    if (removed.size > 0) items = items.filter(({ seq }) => !removed.has(seq));
    if (changed.size > 0) {
      const next = items.slice();
      const first = next[0]?.seq ?? 0;
      for (const seq of changed) {
        const item = this.#builder.item(seq);
        if (item === undefined || (seq < first && this.#state.older)) continue;
        const at = placeOf(next, seq);
        next.splice(at, next[at]?.seq === seq ? 1 : 0, item);
      }
      items = next;
    }
    this.#set({ items, head, shifted: false });
  }

  #read(): void {
    if (this.#reading !== null || this.#closed) return;
    this.#reading = this.#readOn()
      .catch((fault: unknown) => this.#set({ fault }))
      .finally(() => {
        this.#reading = null;
      });
  }

  async #readOn(): Promise<void> {
    const behind = this.#known - this.#last();
    if (this.#state.phase === "loading" || behind > catchUpLimit) {
      await this.#readNewest();
      // A page that was asked for early is behind what the stream has told meanwhile.
      if (this.#closed || this.#known <= this.#last()) return;
    }
    for (;;) {
      const since = this.#last();
      // oxlint-disable-next-line no-await-in-loop -- each page begins where the last one ended
      const events = await this.#source.events(since);
      for (const event of events) if (event.seq > this.#builder.seq) this.#waiting.set(event.seq, event);
      this.#schedule();
      if (isLastPage(events, eventsAtOnce)) break;
    }
    if (this.#state.fault !== null) this.#set({ fault: null });
  }

  async #readNewest(): Promise<void> {
    const page = await this.#source.newest();
    if (this.#closed) return;
    this.#builder = builderOf(page);
    const { head } = this.#builder.saved();
    this.#set({ items: page.items, head, older: page.older, phase: "ready", shifted: false, fault: null });
    this.#schedule();
  }

  #startOver(): void {
    this.#waiting.clear();
    this.#builder = new TranscriptBuilder();
    this.#set({ phase: "loading", items: [], older: false, shifted: false });
    this.#read();
  }

  #set(next: Partial<FeedState>): void {
    this.#state = { ...this.#state, shifted: false, ...next };
    for (const listener of this.#listeners) listener();
  }
}

/** Where `seq` stands or belongs. Almost always the end. */
function placeOf(items: readonly TranscriptItem[], seq: number): number {
  let [low, high] = [0, items.length];
  const last = items.at(-1);
  if (last === undefined || last.seq < seq) return items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((items[middle]?.seq ?? 0) < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}
