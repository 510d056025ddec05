import { expect, test } from "vitest";
import { archivedPollMs, isDue, isTracked, mayReact, pendingPollMs, pollDelay, quietPollMs } from "./polling.ts";
import { created, fold, intent, ready, started, t0, trashed, up } from "../../supervisor/facts.fixture.ts";
import { check, seen } from "./pull-request.fixture.ts";

const upNow = [created, ready, started, up];
const later = t0 + 3_600_000;

test("[TRACKER-39] soon while something is pending, else less often, and not at all without a session", () => {
  const quiet = fold([...upNow, seen({ checks: [check("a", "passed")] })]);
  expect(pollDelay([], later)).toBeNull();
  expect(pollDelay([quiet], later)).toBe(quietPollMs);
  expect(pollDelay([quiet, fold([...upNow, seen({ checks: [check("a", "pending")] })])], later)).toBe(pendingPollMs);
  expect(pollDelay([fold([...upNow, seen({ conflict: null })])], later)).toBe(pendingPollMs);
  // An agent that was just at work may have pushed.
  expect(pollDelay([quiet], t0 + 60_000)).toBe(pendingPollMs);
});

test("[REACTION-1] of a session that was put aside only its pull requests are heard", () => {
  expect(mayReact(fold(upNow))).toBe(true);
  const stopped = [...upNow, intent({ want: "stopped" })];
  expect(mayReact(fold(stopped))).toBe(false);
  expect(mayReact(fold([...stopped, seen({})]))).toBe(true);
  expect(mayReact(fold([...upNow, seen({}), intent({ want: "killed" })]))).toBe(false);
});

test("[TRACKER-38] what is asked about: workers that are there", () => {
  expect(isTracked(fold(upNow))).toBe(true);
  expect(isTracked(fold([...upNow, intent({ want: "stopped" })]))).toBe(true);
  expect(isTracked(fold([...upNow, intent({ want: "killed" }), trashed]))).toBe(false);
  expect(isTracked(fold([{ ...created, role: "orchestrator" }, ready, started, up]))).toBe(false);
  expect(isTracked(fold([created]))).toBe(false);
});

test("[TRACKER-45] archived sessions are polled rarely, until merged, and do not shorten the interval", () => {
  const pending = seen({ checks: [check("a", "pending")] });
  const archived = fold([...upNow, pending, intent({ want: "archived" })]);
  expect(isTracked(archived)).toBe(true);
  expect(isTracked(fold([...upNow, seen({ state: "merged" }), intent({ want: "archived" })]))).toBe(false);
  expect(pollDelay([archived], later)).toBe(archivedPollMs);
  const quiet = fold([...upNow, seen({ checks: [check("a", "passed")] })]);
  expect(pollDelay([archived, quiet], later)).toBe(quietPollMs);
  expect(isDue(archived, null, later)).toBe(true);
  expect(isDue(archived, later - archivedPollMs + 1, later)).toBe(false);
  expect(isDue(archived, later - archivedPollMs, later)).toBe(true);
  expect(isDue(quiet, later - 1, later)).toBe(true);
});
