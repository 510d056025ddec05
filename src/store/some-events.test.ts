import { expect, test } from "vitest";
import { eventPageChars, isLastPage } from "../contract/stream.ts";
import type { FactEvent } from "../contract/event.ts";
import { asSessionId } from "../contract/ids.ts";
import { created, makeHome } from "./store.fixture.ts";

const id = asSessionId("ma-1");

async function filled() {
  const store = makeHome().open();
  await store.create(created("ma-1"));
  const event = (at: number): FactEvent =>
    at % 2 === 0 ? { type: "agent.text", text: "x".repeat(1_000) } : { type: "notice", level: "info", text: `${at}` };
  await store.commit(id, () => Array.from({ length: 20 }, (_, at) => event(at)));
  return { store, last: store.session(id)!.seq };
}

test("[STORE-30] no more is read than was wanted: first or newest, of some types, up to so many characters, at least one", async () => {
  const { store, last } = await filled();
  const seqs = (wanted: Parameters<typeof store.someEvents>[1]): number[] =>
    store.someEvents(id, wanted).map(({ seq }) => seq);
  const all = store.events(id, 0, 100).map(({ seq }) => seq);
  expect(seqs({ limit: 100, chars: 1e9 })).toEqual(all);
  expect(seqs({ limit: 3, chars: 1e9 })).toEqual(all.slice(0, 3));
  expect(seqs({ limit: 3, chars: 1e9, newest: true })).toEqual(all.slice(-3));
  expect(seqs({ after: 2, before: 5, limit: 100, chars: 1e9 })).toEqual([3, 4]);
  expect(seqs({ after: last - 4, limit: 100, chars: 1, newest: true })).toEqual([last]);
  const notices = store.someEvents(id, { limit: 100, chars: 1e9, types: ["notice"] });
  expect(notices.map((event) => event.type === "notice" && event.text)).toEqual(
    Array.from({ length: 10 }, (_, at) => `${at * 2 + 1}`),
  );
  // Each second one holds a thousand: the third passes the bound.
  const bounded = store.someEvents(id, { limit: 100, chars: 2_500, types: ["agent.text"] });
  expect(bounded).toHaveLength(3);
});

test("[API-51] a page that was cut is not taken for the last one", () => {
  const event = (length: number) => ({ seq: 1, at: "", type: "agent.text", text: "x".repeat(length) });
  expect(isLastPage([], 10)).toBe(true);
  expect(isLastPage([event(10)], 10)).toBe(true);
  expect(isLastPage([event(10), event(10)], 2)).toBe(false);
  expect(isLastPage([event(eventPageChars - 8)], 10)).toBe(false);
});
