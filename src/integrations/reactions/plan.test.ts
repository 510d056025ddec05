import { describe, expect, test } from "vitest";
import type { SessionEvent } from "../../contract/event.ts";
import { type Status } from "../../contract/ids.ts";
import type { ReviewThread } from "../../contract/tracker.ts";
import { idleAfterMs } from "./conditions.ts";
import { planReactions, unresponsiveAfterMs, type ReactionFacts } from "./plan.ts";
import {
  absent,
  created,
  ended,
  failed,
  fold,
  intent,
  ready,
  started,
  unknown,
} from "../../supervisor/facts.fixture.ts";
import { check, seen } from "./pull-request.fixture.ts";
import { now, upNow, send, red, green, facts, plan, after } from "./plan.fixture.ts";

describe("[REACTION-1] the same content triggers one reaction", () => {
  test("failed checks, by commit and names", () => {
    const settings = { "ci-failed": send };
    const events = [...upNow, seen(red)];
    const first = facts(fold(events), "ci_failed");
    expect(plan(first, settings)).toEqual(["send ci-failed 1"]);
    const told = after(events, first, settings);
    expect(plan(facts(fold(told), "ci_failed"), settings)).toEqual([]);
    expect(plan(facts(fold([...told, seen({ ...red, title: "renamed" })]), "ci_failed"), settings)).toEqual([]);
    const pushed = fold([...told, seen({ ...red, headSha: "b".repeat(40) })]);
    expect(plan(facts(pushed, "ci_failed"), settings)).toEqual(["send ci-failed 2"]);
  });

  test("review threads, by their ids; nothing before they are known", () => {
    const settings = { "changes-requested": send };
    const events = [...upNow, seen({ review: "changes_requested" })];
    const url = "https://example.test/owner/my-app/pull/7";
    const thread = (id: string, resolved = false): ReviewThread => ({
      id,
      path: "a.ts",
      line: 1,
      author: "somebody",
      body: "why?",
      url,
      resolved,
    });
    const asked = (of: SessionEvent[], value: ReviewThread[]): ReactionFacts =>
      facts(fold(of), "changes_requested", { threads: new Map([[url, { is: "known", value }]]) });
    expect(plan(facts(fold(events), "changes_requested"), settings)).toEqual(["ask-threads"]);
    expect(plan(facts(fold(events), "changes_requested", { threads: new Map([[url, unknown]]) }), settings)).toEqual(
      [],
    );
    expect(plan(facts(fold(events), "changes_requested", { threads: new Map([[url, absent]]) }), settings)).toEqual([
      "send changes-requested 1",
    ]);
    const told = after(events, asked(events, [thread("1"), thread("2")]), settings);
    expect(plan(asked(told, [thread("2"), thread("1"), thread("9", true)]), settings)).toEqual([]);
    expect(plan(asked(told, [thread("2"), thread("3")]), settings)).toEqual(["send changes-requested 2"]);
  });

  test("a conflict, by commit; a question, by its id; an end, by its launch", () => {
    const conflict = facts(fold([...upNow, seen({ conflict: true })]), "pr_open");
    expect(plan(conflict, { "merge-conflict": send })).toEqual(["send merge-conflict 1"]);
    const question: SessionEvent = { type: "permission.asked", requestId: "r1", title: "may I?", options: [] };
    const asks = [...upNow, question];
    expect(plan(facts(fold(asks), "needs_input"), {})).toEqual(["notify needs-input 1"]);
    const told = after(asks, facts(fold(asks), "needs_input"), {});
    expect(plan(facts(fold(told), "needs_input"), {})).toEqual([]);
    expect(plan(facts(fold([...told, { ...question, requestId: "r2" }]), "needs_input"), {})).toEqual([
      "notify needs-input 1",
    ]);
    expect(plan(facts(fold([...upNow, ended("own-exit")]), "exited"), {})).toEqual(["notify exited 1"]);
    expect(plan(facts(fold([created, ready, started, failed]), "failed"), {})).toEqual(["notify exited 1"]);
    expect(plan(facts(fold([...upNow, ended("own-exit"), seen({ state: "merged" })]), "done"), {})).toEqual([]);
  });
});

test("[REACTION-2] without configuration the user is notified, and nothing else happens", () => {
  const all = fold([...upNow, seen({ ...red, conflict: true, review: "changes_requested" })]);
  expect(plan(facts(all, "ci_failed"), {}, now + idleAfterMs)).toEqual([]);
  const ok = facts(fold([...upNow, seen(green)]), "mergeable");
  expect(plan(ok, {})).toEqual(["notify approved-and-green 1"]);
  expect(plan(ok, { "approved-and-green": { action: "notify", enabled: false } })).toEqual([]);
  expect(plan(ok, { "approved-and-green": { action: "merge" } })).toEqual(["merge approved-and-green 1"]);
});

describe("[REACTION-3] a budget, then the user, then a full budget again", () => {
  const push = (index: number, more = {}) => seen({ ...red, headSha: String(index).repeat(40), ...more });
  test.each([
    [{ action: "send-to-agent" }, ["send ci-failed 1", "send ci-failed 2", "escalate ci-failed"]],
    [{ action: "send-to-agent", retries: 1 }, ["send ci-failed 1", "escalate ci-failed"]],
    [{ action: "send-to-agent", retries: 0 }, ["escalate ci-failed"]],
  ] as const)("%o", (setting, steps) => {
    const settings = { "ci-failed": setting };
    let events: SessionEvent[] = [...upNow];
    const done: string[] = [];
    for (let index = 1; index < 6; index++) {
      events.push(push(index));
      const of = facts(fold(events), "ci_failed");
      done.push(...plan(of, settings));
      events = after(events, of, settings);
    }
    expect(done).toEqual(steps);
    // Checks of a push that still run are no proof that it is over.
    const running = fold([...events, seen({ headSha: "7".repeat(40), checks: [check("test", "pending")] })]);
    expect(plan(facts(running, "pr_open"), settings)).toEqual([]);
    events.push(seen({ headSha: "8".repeat(40), checks: [check("test", "passed")] }));
    expect(plan(facts(fold(events), "pr_open"), settings)).toEqual(["clear ci-failed"]);
    events = after(events, facts(fold(events), "pr_open"), settings);
    expect(plan(facts(fold(events), "pr_open"), settings)).toEqual([]);
    events.push(push(9));
    expect(plan(facts(fold(events), "ci_failed"), settings)).toEqual(steps.slice(0, 1));
  });

  test("an agent that stays idle after a message is escalated to the user, once", () => {
    const settings = { "ci-failed": send };
    const events = [...upNow, seen(red)];
    const told = after(events, facts(fold(events), "ci_failed"), settings);
    const later = now + unresponsiveAfterMs;
    const of = (of: SessionEvent[], status: Status) => facts(fold(of), status, { polledAt: later });
    expect(plan(of(told, "working"), settings, later)).toEqual([]);
    expect(plan(of(told, "ci_failed"), settings, later)).toEqual(["escalate ci-failed"]);
    expect(plan(of(after(told, of(told, "ci_failed"), settings, later), "ci_failed"), settings, later)).toEqual([]);
  });
});

describe("[REACTION-4] which agents get a message", () => {
  const settings = { "ci-failed": send };
  const events = [...upNow, seen(red)];
  const rows: [Status, SessionEvent[], string[]][] = [
    ["ci_failed", [], ["send ci-failed 1"]],
    ["needs_input", [], []],
    ["working", [], []],
    ["stuck", [], []],
    ["unknown", [], []],
    ["running", [], ["escalate ci-failed"]],
    ["starting", [], []],
    ["snoozed", [intent({ want: "snoozed", until: now + 1 })], []],
    ["stopped", [intent({ want: "stopped" }, "idle-stop")], ["send ci-failed 1"]],
    ["stopped", [intent({ want: "stopped" })], ["escalate ci-failed"]],
    ["archived", [intent({ want: "archived" })], []],
    ["exited", [ended("own-exit")], ["escalate ci-failed"]],
    ["killed", [intent({ want: "killed" })], []],
  ];
  test.each(rows)("%s", (status, more, steps) => {
    const off = {
      exited: { action: "notify", enabled: false },
      "needs-input": { action: "notify", enabled: false },
    } as const;
    expect(plan(facts(fold([...events, ...more]), status), { ...settings, ...off })).toEqual(steps);
  });

  test("a permission request goes to the user, whatever is configured", () => {
    const asks = fold([...upNow, { type: "permission.asked", requestId: "r", title: "?", options: [] }]);
    expect(plan(facts(asks, "needs_input"), { "needs-input": send })).toEqual(["escalate needs-input"]);
    const [told] = planReactions(facts(asks, "needs_input"), { "needs-input": send }, now);
    expect(told).toMatchObject({ why: "The agent asks: ?" });
  });

  test("what was not confirmed lately is not acted on", () => {
    const session = fold(events);
    expect(plan(facts(session, "ci_failed", { polledAt: null }), settings)).toEqual([]);
    expect(plan(facts(session, "ci_failed", { polledAt: now - 60 * 60_000 }), settings)).toEqual([]);
  });
});
