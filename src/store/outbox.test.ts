import { expect, test } from "vitest";
import { asLaunchId, asSessionId } from "../contract/ids.ts";
import { created, errorOf, intent, makeHome, output } from "./store.fixture.ts";

const id = asSessionId("a-1");
const launch = asLaunchId("l-1");

test("[STORE-26] events, lines, answers and the place in a chat launch's files are one transaction", async () => {
  const home = makeHome();
  const store = home.open();
  await store.create(created(id));
  await store.chat(id, launch, () => ({ lines: [{ key: "init", text: "héllo\n" }], info: '{"a":1}' }));
  const { place } = await store.chat(id, launch, (_state, before) => ({
    events: [output("x")],
    lines: [
      { key: "new", text: "two\n" },
      { key: "init", text: "ignored\n" },
    ],
    answers: [
      { key: "init", answer: "1" },
      { key: "init", answer: "2" },
    ],
    outRead: (before?.outRead ?? 0) + 10,
    replayFilter: "answer",
  }));
  expect(place).toMatchObject({ inEnd: 11, outRead: 10, replayFilter: "answer", info: '{"a":1}' });
  store.close();
  const again = home.open();
  expect(again.allLaunchOffsets()).toEqual([
    { session: id, launch, inEnd: 11, outRead: 10, replayFilter: "answer", info: '{"a":1}', settled: false },
  ]);
  expect(again.inputAfter(launch, 3)).toMatchObject([
    { key: "init", offset: 0, length: 7, answer: "1" },
    { key: "new", offset: 7, length: 4, answer: null },
  ]);
  expect(again.session(id)?.seq).toBe(2);
});

test("[STORE-27] a refused step writes neither events nor place, and a step of nothing changes nothing", async () => {
  const store = makeHome(":memory:").open();
  await store.create(created(id));
  const refused = store.chat(id, launch, () => {
    throw new Error("no");
  });
  expect((await errorOf(refused)).message).toBe("no");
  expect((await store.chat(id, launch, () => null)).place).toBeNull();
  expect(store.allLaunchOffsets()).toEqual([]);
});

test("[STORE-28] texts that are in the agent's file are dropped, their keys are kept", async () => {
  const store = makeHome(":memory:").open();
  await store.create(created(id));
  await store.chat(id, launch, () => ({
    lines: [
      { key: "a", text: "1\n" },
      { key: "b", text: "2\n" },
    ],
  }));
  await store.chat(id, launch, () => ({ appendedTo: 2, lines: [{ key: "a", text: "again\n" }] }));
  expect(store.inputAfter(launch, 0).map((row) => row.text)).toEqual([null, "2\n"]);
});

test("[STORE-29] a new launch drops the places of the session's earlier ones; a forgotten or purged one is gone", async () => {
  const store = makeHome(":memory:").open();
  await store.create(created(id));
  const line = { lines: [{ key: "a", text: "1\n" }] };
  await store.chat(id, launch, () => line);
  const next = asLaunchId("l-2");
  await store.chat(id, next, () => line);
  expect(store.allLaunchOffsets().map((place) => place.launch)).toEqual([next]);
  expect(store.inputRow(launch, "a")).toBeNull();
  await store.forgetLaunch(next);
  expect(store.launchOffsets(next)).toBeNull();
  await store.chat(id, next, () => line);
  await store.commit(id, () => [intent("deleted")]);
  await store.purgeDeleted(id);
  expect(store.inputRow(next, "a")).toBeNull();
});
