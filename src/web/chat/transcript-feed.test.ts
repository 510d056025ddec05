import { describe, expect, test } from "vitest";
import type { SessionEvent } from "../../contract/event.ts";
import { asPromptId } from "../../contract/ids.ts";
import { TranscriptBuilder, transcriptOf } from "../../model/transcript/builder.ts";
import type { TranscriptPage } from "../../contract/transcript.ts";
import type { EventJson } from "../../contract/stream.ts";
import { TranscriptFeed, type FeedSource } from "./transcript-feed.ts";

const said = (words: string): SessionEvent => ({ type: "agent.text", text: words });
const prompt = (id: string): SessionEvent[] => [
  { type: "prompt.admitted", promptId: asPromptId(id), text: id, by: "person" },
  { type: "prompt.sent", promptId: asPromptId(id), seenBy: "in" },
  { type: "turn.started", promptId: asPromptId(id) },
];
const ended: SessionEvent = { type: "turn.ended", stopReason: "end_turn" };
const turns = (count: number): SessionEvent[] =>
  Array.from({ length: count }, (_, n) => [...prompt(`p${n}`), said(`answer ${n}`), ended]).flat();

/** A daemon's log that returns only what is requested. */
class Log implements FeedSource {
  events_: EventJson[] = [];
  readonly requested: string[] = [];
  #frames: (() => void)[] = [];
  /** Responses wait until it resolves. */
  gate: Promise<void> = Promise.resolve();

  constructor(events: SessionEvent[] = []) {
    this.add(events);
  }

  add(events: SessionEvent[]): EventJson[] {
    const at = new Date(0).toISOString();
    const more = events.map((event, n) => ({ ...event, at, seq: this.events_.length + n + 1 }));
    this.events_.push(...more);
    return more;
  }

  get seq(): number {
    return this.events_.length;
  }

  async newest(): Promise<TranscriptPage> {
    this.requested.push("newest");
    await this.gate;
    return this.page(4);
  }

  page(count: number, before = Infinity): TranscriptPage {
    const builder = new TranscriptBuilder();
    for (const event of this.events_) builder.push(event);
    const { head, refs } = builder.saved();
    const all = builder.transcript().items.filter(({ seq }) => seq < before);
    const items = all.slice(-count);
    return { ...head, refs, items, pinned: all.slice(0, -count), older: items.length < all.length };
  }

  async older(before: number): Promise<TranscriptPage> {
    this.requested.push(`older ${before}`);
    return this.page(6, before);
  }

  async events(since: number): Promise<EventJson[]> {
    this.requested.push(`events ${since}`);
    await this.gate;
    return this.events_.filter(({ seq }) => seq > since).slice(0, 1_000);
  }

  nextFrame(flush: () => void): void {
    this.#frames.push(flush);
  }

  frame(): void {
    for (const flush of this.#frames.splice(0)) flush();
  }
}

const settled = async (): Promise<void> => {
  for (let n = 0; n < 20; n++) await Promise.resolve();
};

async function opened(log: Log, cached: TranscriptPage | null = null): Promise<TranscriptFeed> {
  const feed = new TranscriptFeed(log, cached);
  feed.catchUpTo(log.seq);
  await settled();
  log.frame();
  return feed;
}

const whole = (log: Log) => transcriptOf(log.events_).items;

describe("opening", () => {
  test("[WEB-51] the newest page loads first, older pages on demand", async () => {
    const log = new Log(turns(10));
    const feed = await opened(log);
    expect(feed.state()).toMatchObject({ phase: "ready", older: true });
    expect(feed.state().items).toEqual(whole(log).slice(-4));
    await feed.loadOlder();
    expect(feed.state()).toMatchObject({ shifted: true, older: true });
    expect(feed.state().items).toHaveLength(10);
    await feed.loadAll();
    expect(feed.state()).toMatchObject({ older: false });
    expect(feed.state().items).toEqual(whole(log));
  });

  test("[WEB-52] the cached page is shown immediately, and only new events are fetched", async () => {
    const log = new Log(turns(5));
    const before = await opened(log);
    const kept = JSON.parse(JSON.stringify(before.page(2))) as TranscriptPage;
    log.add([...prompt("next"), said("new")]);
    const feed = new TranscriptFeed(log, kept);
    expect(feed.state()).toMatchObject({ phase: "ready", older: true });
    expect(feed.state().items).toHaveLength(2);
    log.requested.length = 0;
    feed.catchUpTo(log.seq);
    await settled();
    log.frame();
    expect(log.requested).toEqual(["events 25"]);
    await feed.loadAll();
    expect(feed.state().items).toEqual(whole(log));
  });

  test("[WEB-52] a cached page of another, shorter log is replaced", async () => {
    const kept = (await opened(new Log(turns(5)))).page(10);
    const log = new Log(turns(1));
    const feed = await opened(log, kept);
    await settled();
    expect(feed.state().items).toEqual(whole(log));
  });

  test("[WEB-54] events after an early page are read too", async () => {
    const log = new Log(turns(3));
    const early = log.page(4);
    log.newest = () => Promise.resolve(early);
    log.add([...prompt("next"), said("new")]);
    const feed = await opened(log);
    expect(feed.state().items.at(-1)).toMatchObject({ text: "new" });
  });

  test("[WEB-51] a failed read is shown, and repeated by a retry", async () => {
    const log = new Log(turns(1));
    const newest = log.newest.bind(log);
    log.newest = () => Promise.reject(new Error("away"));
    const feed = await opened(log);
    expect(feed.state()).toMatchObject({ phase: "loading", fault: new Error("away") });
    log.newest = newest;
    feed.retry();
    await settled();
    expect(feed.state()).toMatchObject({ phase: "ready", fault: null });
  });
});

describe("following", () => {
  test("[WEB-53] events of one frame are one change that replaces only their items", async () => {
    const log = new Log(turns(2));
    const feed = await opened(log);
    const before = feed.state().items;
    let changes = 0;
    feed.subscribe(() => (changes += 1));
    for (const word of ["a", "b", "c"]) feed.apply(log.add([said(word)]));
    expect(changes).toBe(0);
    log.frame();
    expect(changes).toBe(1);
    const after = feed.state().items;
    expect(after.slice(0, before.length).every((item, n) => item === before[n])).toBe(true);
    expect(after.at(-1)).toMatchObject({ item: "text", text: "abc" });
  });

  test("[WEB-54] a gap in the sequence is read again, without losses or duplicates", async () => {
    const log = new Log(turns(1));
    const feed = await opened(log);
    log.add([said("lost one "), said("lost two ")]);
    feed.apply(log.add([said("received")]));
    log.frame();
    await settled();
    log.frame();
    expect(log.requested.at(-1)).toBe("events 5");
    expect(feed.state().items).toEqual(whole(log));
    expect(feed.state().items.at(-1)).toMatchObject({ text: "lost one lost two received" });
  });

  test("[WEB-54] events missing from the stream are read when the session's seq shows them", async () => {
    const log = new Log(turns(1));
    const feed = await opened(log);
    log.add([said("silent")]);
    feed.catchUpTo(log.seq);
    await settled();
    log.frame();
    expect(feed.state().items).toEqual(whole(log));
    log.requested.length = 0;
    feed.catchUpTo(log.seq);
    feed.apply(log.events_);
    log.frame();
    await settled();
    expect(log.requested).toEqual([]);
    expect(feed.state().items).toEqual(whole(log));
  });

  test("[WEB-54] events that arrive while the newest page loads are applied on top of it", async () => {
    const log = new Log(turns(1));
    const gate = Promise.withResolvers<void>();
    log.gate = gate.promise;
    const feed = new TranscriptFeed(log, null);
    feed.catchUpTo(log.seq);
    feed.apply(log.add([said("meanwhile")]));
    log.frame();
    gate.resolve();
    await settled();
    log.frame();
    await settled();
    log.frame();
    expect(feed.state().items).toEqual(whole(log).slice(-feed.state().items.length));
    expect(feed.state().head.seq).toBe(log.seq);
  });

  test("[WEB-51] a change of an item that is not loaded yet shows once it is loaded", async () => {
    const asked: SessionEvent = { type: "permission.asked", requestId: "r", title: "?", options: [] };
    const log = new Log([...prompt("p"), asked, ...Array.from({ length: 8 }, (_, n) => [said(`${n}`), notice]).flat()]);
    const feed = await opened(log);
    feed.apply(
      log.add([{ type: "permission.answered", requestId: "r", optionId: "y", outcome: "selected", by: "person" }]),
    );
    log.frame();
    expect(feed.state().items).toHaveLength(4);
    await feed.loadAll();
    expect(feed.state().items).toEqual(whole(log));
  });

  test("[WEB-53] a requeued prompt leaves the items", async () => {
    const log = new Log([...turns(1), ...prompt("p").slice(0, 2)]);
    const feed = await opened(log);
    expect(feed.state().items.at(-1)).toMatchObject({ item: "prompt" });
    feed.apply(log.add([{ type: "prompt.requeued", promptId: asPromptId("p"), reason: "died" }]));
    log.frame();
    expect(feed.state().items.at(-1)).toMatchObject({ item: "turn-end" });
    expect(feed.state().head.queue).toHaveLength(1);
  });
});

const notice: SessionEvent = { type: "notice", level: "info", text: "." };
