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

/** A daemon's log, of which only what is asked for is told. */
class Log implements FeedSource {
  events_: EventJson[] = [];
  readonly asked: string[] = [];
  #frames: (() => void)[] = [];
  /** Answers wait until they are let go. */
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
    this.asked.push("newest");
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
    this.asked.push(`older ${before}`);
    return this.page(6, before);
  }

  async events(since: number): Promise<EventJson[]> {
    this.asked.push(`events ${since}`);
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
  feed.knows(log.seq);
  await settled();
  log.frame();
  return feed;
}

const whole = (log: Log) => transcriptOf(log.events_).items;

describe("opening", () => {
  test("[WEB-51] the newest page comes first, older pages on demand, and together they are the transcript", async () => {
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

  test("[WEB-52] what was kept is there at once, and only what is new is fetched", async () => {
    const log = new Log(turns(5));
    const before = await opened(log);
    const kept = JSON.parse(JSON.stringify(before.page(2))) as TranscriptPage;
    log.add([...prompt("next"), said("new")]);
    const feed = new TranscriptFeed(log, kept);
    expect(feed.state()).toMatchObject({ phase: "ready", older: true });
    expect(feed.state().items).toHaveLength(2);
    log.asked.length = 0;
    feed.knows(log.seq);
    await settled();
    log.frame();
    expect(log.asked).toEqual(["events 25"]);
    await feed.loadAll();
    expect(feed.state().items).toEqual(whole(log));
  });

  test("[WEB-52] kept of another log that is shorter: read anew", async () => {
    const kept = (await opened(new Log(turns(5)))).page(10);
    const log = new Log(turns(1));
    const feed = await opened(log, kept);
    await settled();
    expect(feed.state().items).toEqual(whole(log));
  });

  test("[WEB-54] a page that was asked for before the last events came: those are read too", async () => {
    const log = new Log(turns(3));
    const early = log.page(4);
    log.newest = () => Promise.resolve(early);
    log.add([...prompt("next"), said("new")]);
    const feed = await opened(log);
    expect(feed.state().items.at(-1)).toMatchObject({ text: "new" });
  });

  test("[WEB-51] what cannot be read is a fault, and read on after a retry", async () => {
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
  test("[WEB-53] events of one frame are one change, and only the items they concern are other objects", async () => {
    const log = new Log(turns(2));
    const feed = await opened(log);
    const before = feed.state().items;
    let changes = 0;
    feed.subscribe(() => (changes += 1));
    for (const word of ["a", "b", "c"]) feed.take(log.add([said(word)]));
    expect(changes).toBe(0);
    log.frame();
    expect(changes).toBe(1);
    const after = feed.state().items;
    expect(after.slice(0, before.length).every((item, n) => item === before[n])).toBe(true);
    expect(after.at(-1)).toMatchObject({ item: "text", text: "abc" });
  });

  test("[WEB-54] a gap in the sequence is read again, and nothing is lost or doubled", async () => {
    const log = new Log(turns(1));
    const feed = await opened(log);
    log.add([said("lost one "), said("lost two ")]);
    feed.take(log.add([said("heard")]));
    log.frame();
    await settled();
    log.frame();
    expect(log.asked.at(-1)).toBe("events 5");
    expect(feed.state().items).toEqual(whole(log));
    expect(feed.state().items.at(-1)).toMatchObject({ text: "lost one lost two heard" });
  });

  test("[WEB-54] events that nobody told are read when the session's own number shows them", async () => {
    const log = new Log(turns(1));
    const feed = await opened(log);
    log.add([said("silent")]);
    feed.knows(log.seq);
    await settled();
    log.frame();
    expect(feed.state().items).toEqual(whole(log));
    log.asked.length = 0;
    feed.knows(log.seq);
    feed.take(log.events_);
    log.frame();
    await settled();
    expect(log.asked).toEqual([]);
    expect(feed.state().items).toEqual(whole(log));
  });

  test("[WEB-54] events that come while the newest page is on its way are folded on top of it", async () => {
    const log = new Log(turns(1));
    const gate = Promise.withResolvers<void>();
    log.gate = gate.promise;
    const feed = new TranscriptFeed(log, null);
    feed.knows(log.seq);
    feed.take(log.add([said("meanwhile")]));
    log.frame();
    gate.resolve();
    await settled();
    log.frame();
    await settled();
    log.frame();
    expect(feed.state().items).toEqual(whole(log).slice(-feed.state().items.length));
    expect(feed.state().head.seq).toBe(log.seq);
  });

  test("[WEB-51] a change of an item that is not loaded yet is seen when it is", async () => {
    const asked: SessionEvent = { type: "permission.asked", requestId: "r", title: "?", options: [] };
    const log = new Log([...prompt("p"), asked, ...Array.from({ length: 8 }, (_, n) => [said(`${n}`), notice]).flat()]);
    const feed = await opened(log);
    feed.take(
      log.add([{ type: "permission.answered", requestId: "r", optionId: "y", outcome: "selected", by: "person" }]),
    );
    log.frame();
    expect(feed.state().items).toHaveLength(4);
    await feed.loadAll();
    expect(feed.state().items).toEqual(whole(log));
  });

  test("[WEB-53] a prompt that goes back to the queue leaves the items", async () => {
    const log = new Log([...turns(1), ...prompt("p").slice(0, 2)]);
    const feed = await opened(log);
    expect(feed.state().items.at(-1)).toMatchObject({ item: "prompt" });
    feed.take(log.add([{ type: "prompt.requeued", promptId: asPromptId("p"), reason: "died" }]));
    log.frame();
    expect(feed.state().items.at(-1)).toMatchObject({ item: "turn-end" });
    expect(feed.state().head.queue).toHaveLength(1);
  });
});

const notice: SessionEvent = { type: "notice", level: "info", text: "." };
