import { describe, expect, test } from "vitest";
import type { SessionEvent } from "../contract/event.ts";
import {
  couldNotStart,
  isLastRetry,
  isStaleBuild,
  nextLookMs,
  nextRetryMs,
  settledBuildMs,
  recentCrashes,
} from "./runs.ts";
import { statusOf } from "./status.ts";
import { again, base, check, fresh, now, resume } from "../supervisor/decide.fixture.ts";
import { ended, failed, fold, prompt, started, talked } from "../supervisor/facts.fixture.ts";

const missing = (since: number) => ({ program: { is: "missing", why: "mine was not found on PATH", since } }) as const;
const waits = (ms: number) => ({ do: "wait", until: now + ms, why: "mine was not found on PATH" }) as const;
const retried: SessionEvent = { ...failed, retry: true } as SessionEvent;
const third: SessionEvent = { ...started, attempt: 3 } as SessionEvent;

describe("[DECIDE-38] a launch whose program is missing waits, with a growing delay", () => {
  check([
    ["first launch", base, missing(now), waits(1_000)],
    ["after a stop", [...talked, ended("stopped")], missing(now), waits(1_000)],
    ["after a crash: nothing is counted", [...talked, ended("crash")], missing(now), waits(1_000)],
    ["missing for ten seconds", [...talked, ended("stopped")], missing(now - 10_000), waits(10_000)],
    ["missing for an hour", [...talked, ended("stopped")], missing(now - 3_600_000), waits(30_000)],
    ["there again", [...talked, ended("stopped")], { program: { is: "found" } }, resume()],
  ]);
});

describe("[DECIDE-38] a launch that could not start its program is made again, and sooner when asked for", () => {
  const at = (event: SessionEvent, time: number) => ({ ...event, at: time });
  const wait = (ms: number) => ({ do: "wait", until: now + ms, why: "no such binary" }) as const;
  check([
    ["just failed", [...talked, ended("stopped"), started, at(retried, now)], {}, wait(1_000)],
    ["the third time", [...talked, ended("stopped"), third, at(retried, now)], {}, wait(4_000)],
    ["its time has come", [...talked, ended("stopped"), third, at(retried, now - 4_000)], {}, resume(4)],
    ["a prompt", [...talked, ended("stopped"), third, at(retried, now), prompt("p-1")], {}, resume()],
    ["a restore", [...talked, ended("stopped"), third, at(retried, now), again], {}, resume()],
    ["without retry it rests", [...base, started, at(failed, now)], {}, null],
    ["never prompted", [...base, started, at(retried, now - 1_000)], {}, fresh(2)],
  ]);
});

test("[DECIDE-38] the status is `starting` and shows why", () => {
  const options = { stuckAfterMs: 60_000, missingProgram: "mine was not found on PATH" };
  const down = fold([...talked, ended("crash")]);
  expect(statusOf(down, { is: "absent" }, now, options)).toEqual({
    status: "starting",
    reason: "mine was not found on PATH; retrying",
  });
  const failing = fold([...talked, ended("stopped"), started, retried]);
  expect(statusOf(failing, { is: "absent" }, now, { stuckAfterMs: 60_000 })).toEqual({
    status: "starting",
    reason: "no such binary; retrying (failed attempts: 1)",
  });
  expect([failing.crashes, failing.resumeFailures]).toEqual([[], 0]);
});

describe("[DECIDE-39] after an hour of launches that could not start the program, the session rests as failed", () => {
  const attempt = (count: number, ms = 0): (SessionEvent & { at?: number })[] => [
    ...talked,
    ended("stopped"),
    { ...started, attempt: count } as SessionEvent,
    Object.assign({ at: now - ms }, retried),
  ];
  check([
    ["the last but one is retried", attempt(19, 300_000), {}, resume(20)],
    ["the last one is not", attempt(20, 300_000), {}, null],
    ["nor one of an earlier build that retried longer", attempt(500, 300_000), {}, null],
    ["a prompt tries again, from the first attempt", [...attempt(20), prompt("p-1")], {}, resume()],
    ["and so does a restore", [...attempt(20), again], {}, resume()],
  ]);

  test("its status is `failed`, with the number of attempts", () => {
    expect(statusOf(fold(attempt(20)), { is: "absent" }, now, { stuckAfterMs: 60_000 })).toEqual({
      status: "failed",
      reason: "no such binary; 20 attempts failed",
    });
  });

  test("the attempts take an hour", () => {
    let waited = 0;
    for (let one = 1; !isLastRetry(one); one++) waited += nextRetryMs(one);
    expect(Math.round(waited / 60_000)).toBe(59);
  });
});

test("[DECIDE-38] exit codes 126 and 127 mean that the program could not be started; a signal does not", () => {
  const codes = [0, 1, 126, 127, 128].filter((code) => couldNotStart({ code, signal: null }));
  expect(codes).toEqual([126, 127]);
  expect([couldNotStart(null), couldNotStart({ code: 127, signal: "SIGKILL" })]).toEqual([false, false]);
});

test("[DECIDE-38] delays grow to a limit", () => {
  expect([0, 500, 3_000, 60_000].map(nextLookMs)).toEqual([1_000, 1_000, 3_000, 30_000]);
  expect([1, 2, 3, 60].map(nextRetryMs)).toEqual([1_000, 2_000, 4_000, 300_000]);
});

test("[CLI-69] only a build that is known, different and settled replaces a living agent", () => {
  const seen = (build: string | null, ms: number) => isStaleBuild("a", { build, since: 0 }, ms);
  expect([seen(null, 1e9), seen("a", 1e9), seen("b", settledBuildMs - 1)]).toEqual([false, false, false]);
  expect(seen("b", settledBuildMs)).toBe(true);
});

test("[DECIDE-36] crashes are recent within a minute of the latest, and not where the clock went back behind them", () => {
  expect(recentCrashes({ crashes: [] })).toBe(0);
  expect(recentCrashes({ crashes: [1_000, 50_000, 61_000] })).toBe(2);
  const hour = 3_600_000;
  expect(recentCrashes({ crashes: [hour, hour + 1_000, 5_000] })).toBe(1);
  expect(recentCrashes({ crashes: [hour, 5_000, 6_000, 7_000] })).toBe(3);
});
