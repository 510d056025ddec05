import { DatabaseSync } from "node:sqlite";
import { describe, expect, test, vi } from "vitest";
import type { Store } from "../ports/store.ts";
import type { FactEvent } from "../contract/event.ts";
import { asPromptId, asSessionId } from "../contract/ids.ts";
import { compactItem } from "../model/transcript/compact.ts";
import type { TranscriptItem } from "../contract/transcript.ts";
import { builderOf, transcriptFormat, transcriptOf } from "../model/transcript/builder.ts";
import { created, intent, makeHome } from "../store/store.fixture.ts";
import { Transcripts } from "./transcripts.ts";

const id = asSessionId("ma-1");
const newest = { tail: 200, before: Number.MAX_SAFE_INTEGER };

function turn(number: number): FactEvent[] {
  const promptId = asPromptId(`p${number}`);
  return [
    { type: "prompt.admitted", promptId, text: `prompt ${number}`, by: "person" },
    { type: "prompt.sent", promptId, seenBy: "in" },
    { type: "turn.started", promptId },
    { type: "agent.text", text: `answer ${number} ` },
    { type: "agent.text", text: "and more" },
    { type: "tool.updated", toolCallId: `t${number % 3}`, title: "ls", status: "pending" },
    { type: "permission.asked", requestId: `r${number}`, title: "?", options: [] },
    { type: "permission.answered", requestId: `r${number}`, optionId: "y", outcome: "selected", by: "person" },
    { type: "tool.updated", toolCallId: `t${number % 3}`, status: number % 2 === 0 ? "completed" : "in_progress" },
    ...(number % 5 === 0 ? [{ type: "prompt.requeued" as const, promptId, reason: "gone" }] : []),
    { type: "turn.ended", stopReason: "end_turn", promptId },
  ];
}

async function filled(turns: number, home = makeHome()) {
  const store = home.open();
  await store.create(created("ma-1"));
  await store.commit(id, () => Array.from({ length: turns }, (_, number) => turn(number)).flat());
  return { home, store, transcripts: new Transcripts(store) };
}

const whole = (store: Store) => transcriptOf(store.events(id, 0, 1e6));

/** All pages, newest first, put together. */
async function allItems(transcripts: Transcripts, tail: number): Promise<TranscriptItem[]> {
  let items: readonly TranscriptItem[] = [];
  for (let before: number | undefined; ;) {
    const page = await transcripts.read(id, { ...newest, tail, ...(before ? { before } : {}) });
    items = [...page.items, ...items];
    if (!page.older) return [...items];
    before = page.items[0]!.seq;
  }
}

describe("reading", () => {
  test("[TRANSCRIPT-7] pages of any size together are the fold of all events, stored or not", async () => {
    const { store, transcripts } = await filled(40);
    const { items, ...head } = whole(store);
    expect(await allItems(transcripts, 7)).toEqual(items.map(compactItem));
    await transcripts.advance(id);
    await store.commit(id, () => [...turn(40), ...turn(41)].slice(0, -3));
    expect(await allItems(transcripts, 7)).toEqual(whole(store).items);
    const {
      items: last,
      older,
      pinned: _pinned,
      refs: _refs,
      ...now
    } = await transcripts.read(id, { ...newest, tail: 3 });
    expect({ now, older, newest: last.length }).toEqual({ now: { ...head, ...now }, older: true, newest: 3 });
    expect(now).toEqual((({ items: _items, ...rest }) => rest)(whole(store)));
  });

  test("[TRANSCRIPT-7] a client folds later events on top of a page, also those about items before it", async () => {
    const { store, transcripts } = await filled(4);
    await store.commit(id, () => [{ type: "permission.asked", requestId: "old", title: "?", options: [] }]);
    await store.commit(id, () => turn(5).slice(0, 5));
    const page = await transcripts.read(id, { ...newest, tail: 1 });
    expect(page.pinned.some(({ item }) => item === "permission")).toBe(true);
    const builder = builderOf(page);
    expect(builder.transcript().items).toEqual(page.items);
    await store.commit(id, () => [
      { type: "permission.answered", requestId: "old", optionId: "y", outcome: "selected", by: "person" },
      { type: "agent.text", text: "!" },
    ]);
    for (const event of store.events(id, page.seq, 10)) builder.push(event);
    builder.prepend((await transcripts.read(id, { ...newest, before: page.items[0]!.seq })).items);
    expect(builder.transcript()).toEqual(whole(store));
  });

  test("[TRANSCRIPT-7] a page is bounded in size, with one item at least", async () => {
    const { store, transcripts } = await filled(0);
    const long = "x".repeat(100 * 1024);
    await store.commit(id, () => Array.from({ length: 20 }, () => ({ type: "agent.text", text: long })));
    const page = await transcripts.read(id, newest);
    expect(page.items.length).toBeLessThan(6);
    expect(page.older).toBe(true);
    expect((await allItems(transcripts, 200)).length).toBe(whole(store).items.length);
  });
});

describe("keeping", () => {
  test("[TRANSCRIPT-8] what was folded is kept, gone on from after a restart, and removed with its session", async () => {
    const { home, store, transcripts } = await filled(60);
    expect(store.transcript(id, transcriptFormat)).toBeNull();
    await transcripts.advance(id);
    const first = store.transcript(id, transcriptFormat)!.seq;
    expect(first).toBe(store.session(id)!.seq);
    await store.commit(id, () => turn(61));
    const expected = whole(store);
    store.close();
    const again = home.open();
    const later = new Transcripts(again);
    expect((await later.read(id, { ...newest, tail: 1000 })).items).toEqual(expected.items);
    // A few events are folded quicker than written.
    await later.read(id, newest);
    expect(again.transcript(id, transcriptFormat)!.seq).toBe(first);
    await later.advance(id);
    expect(again.transcript(id, transcriptFormat)!.seq).toBe(expected.seq);
    await again.commit(id, () => [intent("deleted")]);
    await later.advance(id);
    await again.purgeDeleted(id);
    expect(again.transcript(id, transcriptFormat)).toBeNull();
    expect(again.transcriptItems(id, 1e9, 10)).toEqual([]);
  });

  test("[TRANSCRIPT-8] whoever reads much keeps it for the next one, and two at once do no harm", async () => {
    const { store, transcripts } = await filled(400);
    const pages = await Promise.all([1, 2, 3].map(() => transcripts.read(id, newest)));
    expect(pages[1]).toEqual(pages[0]);
    await transcripts.advance(id);
    expect(store.transcript(id, transcriptFormat)!.seq).toBe(store.session(id)!.seq);
    expect(await allItems(transcripts, 1000)).toEqual(whole(store).items);
  });

  test("[TRANSCRIPT-8] what is stored and goes away later is not shown again", async () => {
    const { store, transcripts } = await filled(3);
    const promptId = asPromptId("back");
    const admitted = { type: "prompt.admitted" as const, promptId, text: "t", by: "person" };
    await store.commit(id, () => [admitted, { type: "prompt.sent", promptId, seenBy: "in" }]);
    await transcripts.advance(id);
    await store.commit(id, () => [{ type: "prompt.requeued", promptId, reason: "died" }]);
    for (let time = 0; time < 2; time++) {
      expect(await allItems(transcripts, 5)).toEqual(whole(store).items);
      await transcripts.advance(id);
    }
  });

  test("[TRANSCRIPT-8] a fold that began before another one was kept is not kept", async () => {
    const { store, transcripts } = await filled(3);
    await transcripts.advance(id);
    const { seq, saved } = store.transcript(id, transcriptFormat)!;
    const advance = { format: transcriptFormat, saved, items: [{ seq: 2, body: "{}" }], removed: [3] };
    await store.saveTranscript(id, { ...advance, from: seq - 1, seq: seq + 1 });
    expect(store.transcript(id, transcriptFormat)?.seq).toBe(seq);
    expect(await allItems(transcripts, 5)).toEqual(whole(store).items);
  });

  test("[TRANSCRIPT-8] while the agent works again only a part is folded on, and the rest after that turn", async () => {
    const { store, transcripts } = await filled(40);
    await store.commit(id, () => [{ type: "turn.started", promptId: null }]);
    await transcripts.advance(id);
    const part = store.transcript(id, transcriptFormat)!.seq;
    expect(part).toBeGreaterThan(0);
    expect(part).toBeLessThan(100);
    await store.commit(id, () => [{ type: "turn.ended", stopReason: "end_turn" }]);
    await transcripts.advance(id);
    expect(store.transcript(id, transcriptFormat)!.seq).toBe(store.session(id)!.seq);
    expect(await allItems(transcripts, 50)).toEqual(whole(store).items);
  });

  test("[TRANSCRIPT-8] some time after a turn's end it is folded on, and not for a session that is gone by then", async () => {
    const { store } = await filled(3);
    const idle = new Transcripts(store, 1);
    idle.turnEnded(asSessionId("ma-9"));
    idle.turnEnded(id);
    const folded = () => store.transcript(id, transcriptFormat)?.seq === store.session(id)!.seq;
    await vi.waitFor(() => expect(folded()).toBe(true), 10_000);
    idle.turnEnded(id);
    idle.close();
  });

  test.each([
    ["a damaged head", "UPDATE transcripts SET saved = '{}'"],
    ["a damaged item", "UPDATE transcript_items SET body = '{}' WHERE id = (SELECT max(id) - 4 FROM transcript_items)"],
    ["a missing item", "DELETE FROM transcript_items WHERE id = (SELECT max(id) FROM transcript_items)"],
    ["another format", "UPDATE transcripts SET format = format + 1"],
  ])("[TRANSCRIPT-9] %s: made anew", async (_what, sql) => {
    const { home, store, transcripts } = await filled(60);
    await transcripts.advance(id);
    const other = new DatabaseSync(home.options.path);
    other.exec(sql);
    other.close();
    expect((await transcripts.read(id, { ...newest, tail: 1000 })).items).toEqual(whole(store).items);
    await transcripts.advance(id);
    expect(await allItems(transcripts, 50)).toEqual(whole(store).items);
  });
});
