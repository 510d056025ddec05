/**
 * One session's transcript as this page has it: the newest items from the cache, then from the daemon; older items on
 * demand; new events from the stream, applied once per frame. The daemon's log is the truth: a gap in the sequence is
 * read again, and a log shorter than ours replaces everything here.
 */
import { isLastPage, type EventJson } from "../../contract/stream.ts";
import type { TranscriptHead, TranscriptItem, TranscriptPage } from "../../contract/transcript.ts";
import { builderOf, TranscriptBuilder } from "../../model/transcript/builder.ts";
import { referred } from "../../model/transcript/state.ts";

/** The feed's calls to the daemon and the browser; tests replace them. */
export interface FeedSource {
  newest(): Promise<TranscriptPage>;
  older(before: number): Promise<Pick<TranscriptPage, "items" | "older">>;
  /** At most `eventsAtOnce`. */
  events(since: number): Promise<EventJson[]>;
  /** Calls back at the next frame. */
  nextFrame(flush: () => void): void;
}

export interface FeedState {
  items: readonly TranscriptItem[];
  head: TranscriptHead;
  phase: "loading" | "ready";
  /** Why the last read failed; retried after a reconnect. */
  fault: unknown;
  older: boolean;
  loadingOlder: boolean;
  /** Whether the last change only added items before the first. */
  shifted: boolean;
}

export const eventsAtOnce = 1_000;
/** Further behind than this, loading the newest page is faster than loading every event. */
const catchUpLimit = 5_000;

export class TranscriptFeed {
  readonly #source: FeedSource;
  #builder: TranscriptBuilder;
  #state: FeedState;
  readonly #listeners = new Set<() => void>();
  /** Received events that are not applied yet, by sequence. */
  readonly #waiting = new Map<number, EventJson>();
  #flushing = false;
  #isReading = false;
  /** The session's last event, as the daemon reported it. */
  #known = 0;

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

  /** To be cached for the next visit: the last `count` items, and the state that the reducer needs to continue. */
  page(count: number): TranscriptPage {
    const { head, refs } = this.#builder.saved();
    const items = this.#state.items.slice(-count);
    const first = items[0]?.seq ?? head.seq + 1;
    const pinned = referred(refs).flatMap((seq) => (seq < first ? (this.#builder.item(seq) ?? []) : []));
    return { ...head, refs, items, pinned, older: this.#state.older || items.length < this.#state.items.length };
  }

  /** The daemon reports that the session is at `seq`: reads the missing events. */
  catchUpTo(seq: number): void {
    this.#known = seq;
    // Another database, or one restored from a backup: the events here never happened there.
    if (this.#state.phase === "ready" && seq < this.#builder.seq) return this.#startOver();
    if (this.#state.phase === "loading" || seq > this.#last()) void this.#read();
  }

  apply(events: readonly EventJson[]): void {
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
      // Not if the feed started over meanwhile.
      if (this.#state.items[0]?.seq === first.seq) {
        // An item known here includes later events.
        const before = page.items.map((item) => this.#builder.item(item.seq) ?? item);
        const some = before.length > 0;
        const all = [...before, ...this.#state.items];
        this.#set({ items: all, older: page.older && some, shifted: some, fault: null, loadingOlder: false });
      }
    } catch (fault) {
      this.#set({ fault });
    }
    if (this.#state.loadingOlder) this.#set({ loadingOlder: false });
  }

  /** Loads everything, page by page, while `isNeeded`. */
  async loadAll(isNeeded: () => boolean = () => true): Promise<void> {
    while (this.#state.older && isNeeded()) {
      const before = this.#state.items.length;
      // oxlint-disable-next-line no-await-in-loop -- each page starts where the last one ended
      await this.loadOlder();
      if (this.#state.items.length === before && !this.#state.loadingOlder) return;
    }
  }

  retry(): void {
    this.#set({ fault: null });
    void this.#read();
  }

  /** The last event that is applied, or waiting without a gap. */
  #last(): number {
    let last = this.#builder.seq;
    while (this.#waiting.has(last + 1)) last += 1;
    return last;
  }

  #schedule(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    this.#source.nextFrame(() => {
      this.#flushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#state.phase === "loading") return;
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
    if (this.#waiting.size > 0) void this.#read();
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
        // Almost always the end.
        const at = next.findLastIndex((before) => before.seq < seq) + 1;
        next.splice(at, next[at]?.seq === seq ? 1 : 0, item);
      }
      items = next;
    }
    this.#set({ items, head });
  }

  async #read(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      const behind = this.#known - this.#last();
      const isStale = this.#state.phase === "loading" || behind > catchUpLimit;
      if (isStale) await this.#readNewest();
      // A page requested early may be behind the stream by now.
      if (!isStale || this.#known > this.#last()) await this.#readEvents();
    } catch (fault) {
      this.#set({ fault });
    }
    this.#isReading = false;
  }

  async #readEvents(): Promise<void> {
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- each page starts where the last one ended
      const events = await this.#source.events(this.#last());
      for (const event of events) if (event.seq > this.#builder.seq) this.#waiting.set(event.seq, event);
      this.#schedule();
      if (isLastPage(events, eventsAtOnce)) break;
    }
    if (this.#state.fault !== null) this.#set({ fault: null });
  }

  async #readNewest(): Promise<void> {
    const page = await this.#source.newest();
    this.#builder = builderOf(page);
    const { head } = this.#builder.saved();
    this.#set({ items: page.items, head, older: page.older, phase: "ready", fault: null });
    this.#schedule();
  }

  #startOver(): void {
    this.#waiting.clear();
    this.#builder = new TranscriptBuilder();
    this.#set({ phase: "loading", items: [], older: false });
    void this.#read();
  }

  #set(next: Partial<FeedState>): void {
    this.#state = { ...this.#state, shifted: false, ...next };
    for (const listener of this.#listeners) listener();
  }
}
