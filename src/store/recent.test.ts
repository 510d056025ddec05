import { expect, test, vi } from "vitest";
import type { LogEntry } from "../contract/event.ts";
import { asSessionId } from "../contract/ids.ts";
import { created, intent, makeHome, output } from "./store.fixture.ts";
import { Recent } from "./recent.ts";

const one = asSessionId("ma-1");
const two = asSessionId("ma-2");

test("[STORE-31] a follower gets the same from memory as from the database", async () => {
  const home = makeHome();
  const store = home.open();
  await store.create(created("ma-1"));
  store.onCommit(() => undefined);
  await store.create(created("ma-2"));
  for (let i = 0; i < 12; i++) {
    await Promise.all([
      store.commit(one, () => [output(`a${i}`)]),
      ...(i % 3 === 0 ? [store.commit(two, () => [output(`b${i}`), output(`c${i}`)])] : []),
    ]);
  }
  const stored = home.open();
  expect(stored.cursor()).toBe(store.cursor());
  for (let after = 0; after <= store.cursor(); after++) {
    for (const limit of [1, 3, 100]) {
      expect(store.log(after, limit)).toEqual(stored.log(after, limit));
      expect(store.log(after, limit, two)).toEqual(stored.log(after, limit, two));
    }
  }
});

test("[STORE-31] what was purged is shown to no follower", async () => {
  const store = makeHome().open();
  store.onCommit(() => undefined);
  await Promise.all([store.create(created("ma-1")), store.create(created("ma-2"))]);
  await store.commit(one, () => [output("secret"), intent("deleted")]);
  await store.purgeDeleted(one);
  expect(store.log(0, 10).map(({ session }) => session)).toEqual([two]);
});

test("[STORE-31] the newest commits are kept up to 8 MiB, without a gap, and for a moment", () => {
  vi.useFakeTimers();
  try {
    const recent = new Recent();
    const mib = 1024 * 1024;
    for (let cursor = 1; cursor <= 10; cursor++) recent.add({ entries: [entry(cursor)], bytes: mib });
    expect(recent.read(1, 10)).toBeNull();
    expect(recent.read(2, 10)).toHaveLength(8);
    expect(recent.read(10, 10)).toEqual([]);
    recent.add({ entries: [entry(15)], bytes: 1 });
    expect([recent.read(10, 10), recent.read(14, 10)]).toEqual([null, [entry(15)]]);
    vi.advanceTimersByTime(2_500);
    expect([recent.read(14, 10), vi.getTimerCount()]).toEqual([null, 0]);
  } finally {
    vi.useRealTimers();
  }
});

function entry(cursor: number): LogEntry {
  return { cursor, session: one, seq: cursor, at: 0, type: "notice", body: "{}" };
}
