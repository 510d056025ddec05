import { expect, test } from "vitest";
import { makeHome } from "../store/store.fixture.ts";
import { keptTrust } from "./trust-answers.ts";

const file = "/repo/holdfast.yaml";
const version = (name: string) => ({ file, digest: name, parts: [{ key: "k", value: name }], notices: [] });

test("[TRUST-2] answers are kept by version, over a restart, and an earlier version asks nobody again", async () => {
  const home = makeHome();
  const store = home.open();
  const trust = keptTrust(store, () => 7);
  expect(trust.stateOf(file, "one")).toBe("undecided");
  const revision = trust.revision();
  await trust.answer(version("one"), true);
  expect(trust.revision()).not.toBe(revision);
  expect([trust.stateOf(file, "one"), trust.stateOf(file, "two")]).toEqual(["trusted", "changed"]);
  expect(trust.stateOf("/other/holdfast.yaml", "one")).toBe("undecided");
  await trust.answer(version("two"), false);
  // A change is shown against what was trusted.
  expect(trust.before(file)).toMatchObject({ parts: [{ value: "one" }], at: 7 });
  const again = keptTrust(store, () => 8);
  expect([again.stateOf(file, "one"), again.stateOf(file, "two"), again.stateOf(file, "three")]).toEqual([
    "trusted",
    "declined",
    "changed",
  ]);
  await again.answer(version("two"), true);
  expect(again.stateOf(file, "two")).toBe("trusted");
});

test("[TRUST-5] of two answers at once the second sees the first, and a judge's no changes nothing", async () => {
  const trust = keptTrust(makeHome().open(), () => 7);
  const seen: string[] = [];
  const judge = (state: string): boolean => {
    seen.push(state);
    if (state !== "undecided") throw new Error("too late");
    return false;
  };
  const answers = await Promise.allSettled([
    trust.answer(version("one"), true, judge),
    trust.answer(version("one"), false, judge),
  ]);
  expect(seen).toEqual(["undecided", "trusted"]);
  expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  expect(trust.stateOf(file, "one")).toBe("trusted");
});

test("[TRUST-5] an answer that could not be stored does not count; trust that is taken back is taken from every version", async () => {
  const store = makeHome().open();
  let full = true;
  const trust = keptTrust(
    {
      getSetting: (key) => store.getSetting(key),
      putSetting: (key, value) => (full ? Promise.reject(new Error("full")) : store.putSetting(key, value)),
    },
    () => 7,
  );
  await expect(trust.answer(version("one"), true)).rejects.toThrow("full");
  expect(trust.stateOf(file, "one")).toBe("undecided");
  full = false;
  await trust.answer(version("one"), true);
  await trust.answer(version("two"), true);
  await trust.answer(version("two"), false, () => true);
  expect([trust.stateOf(file, "one"), trust.stateOf(file, "two")]).toEqual(["changed", "declined"]);
});
