import { describe, expect, test } from "vitest";
import type { PullRequestFacts } from "../../contract/tracker.ts";
import { checksComeMs, Memory, mustQuery, openAgeMs, settledAgeMs, type Updated } from "./memory.ts";

const now = 100_000_000;
const lookup = { key: "k", branch: "b", numbers: [] };

function fact(more: Partial<PullRequestFacts> = {}): PullRequestFacts {
  return {
    repo: "o/r",
    number: 1,
    url: "https://host.invalid/o/r/pull/1",
    title: "t",
    state: "open",
    draft: false,
    headBranch: "b",
    headSha: "0".repeat(40),
    headRepo: "o/r",
    baseBranch: "main",
    checks: [{ name: "test", state: "passed", url: null }],
    review: "none",
    conflict: false,
    mergeable: true,
    mergeCommit: null,
    updatedAt: now - checksComeMs,
    ...more,
  };
}

function line(more: Partial<Updated> = {}): Updated {
  return { number: 1, branch: "b", headSha: "", state: "open", updatedAt: now - checksComeMs, ...more };
}

describe("[TRACKER-8] a lookup goes to the host again", () => {
  test.each<[string, PullRequestFacts[], number, Updated[], boolean]>([
    ["not while an open one is settled and the list is the same", [fact()], 1000, [line()], false],
    ["after a minute, because checks can be run again", [fact()], openAgeMs, [line()], true],
    ["while a check runs", [fact({ checks: [{ name: "x", state: "pending", url: null }] })], 0, [], true],
    ["while the host finds out about conflicts", [fact({ conflict: null })], 0, [], true],
    ["while the host finds out whether it may be merged", [fact({ mergeable: null })], 0, [], true],
    ["while the first check may still come", [fact({ checks: [], updatedAt: now - 1 })], 0, [], true],
    ["not for ever for want of checks", [fact({ checks: [] })], 0, [], false],
    ["when the list shows it updated", [fact()], 0, [line({ updatedAt: now })], true],
    ["when the list shows it in another state", [fact()], 0, [line({ state: "merged" })], true],
    ["not when the list is older than the answer", [fact({ updatedAt: now })], 0, [line({ state: "closed" })], false],
    ["when the list shows one of the branch that is not known", [], 0, [line()], true],
    ["not for another branch's", [], 0, [line({ branch: "c" })], false],
    ["when a known one moved to another branch", [fact()], 0, [line({ branch: "c", updatedAt: now })], true],
    ["not for long when it is merged", [fact({ state: "merged" })], openAgeMs, [line({ state: "merged" })], false],
    ["after ten minutes all the same", [fact({ state: "merged" })], settledAgeMs, [], true],
    ["after ten minutes without any", [], settledAgeMs, [], true],
  ])("%s", (_title, facts, age, list, expected) => {
    expect(mustQuery(lookup, { facts, askedAt: now - age }, list, now)).toBe(expected);
  });

  test("when it was never asked, or says so itself", () => {
    expect(mustQuery(lookup, undefined, [], now)).toBe(true);
    expect(mustQuery({ ...lookup, fresh: true }, { facts: [], askedAt: now }, [], now)).toBe(true);
  });

  test("when more moved than the list can show", () => {
    const memory = new Memory();
    expect(memory.overflowed([line({ updatedAt: 10 })], false)).toBe(false);
    expect(memory.overflowed([line({ updatedAt: 12 }), line({ updatedAt: 9 })], false)).toBe(false);
    expect(memory.overflowed([line({ updatedAt: 20 }), line({ updatedAt: 13 })], true)).toBe(false);
    expect(memory.overflowed([line({ updatedAt: 30 }), line({ updatedAt: 21 })], false)).toBe(true);
  });

  test("with other numbers it is another lookup", () => {
    const memory = new Memory();
    memory.put(lookup, [fact()], now);
    expect(memory.get({ ...lookup, key: "other" })?.facts).toHaveLength(1);
    expect(memory.get({ ...lookup, numbers: [7] })).toBeUndefined();
  });
});
