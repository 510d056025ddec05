import { describe, expect, test } from "vitest";
import type { SessionEvent } from "../../contract/event.ts";
import { asSessionId, type Status } from "../../contract/ids.ts";
import type { ReactionName, ReactionSettings } from "../../contract/reaction.ts";
import type { SessionState } from "../../model/session.ts";
import type { ReviewThread } from "../../contract/tracker.ts";
import { allDone, idleAfterMs, pendingPatienceMs, lostTogether } from "./conditions.ts";
import { planReactions, unresponsiveAfterMs, type ReactionFacts, type ReactionStep } from "./plan.ts";
import {
  absent,
  created,
  ended,
  failed,
  fold,
  intent,
  ready,
  sent,
  started,
  t0,
  prompt,
  unknown,
  up,
} from "../../supervisor/facts.fixture.ts";
import { check, seen } from "./pull-request.fixture.ts";

const now = t0 + 60_000;
const upNow = [created, ready, started, up, prompt("p"), sent("p")];
const send = { action: "send-to-agent" } as const;
const red = { checks: [check("lint", "failed"), check("test", "failed")] };
const green = { checks: [check("test", "passed")], review: "approved" as const, mergeable: true };

function facts(session: SessionState, status: Status, more: Partial<ReactionFacts> = {}): ReactionFacts {
  return { session, status, polledAt: now, threads: new Map(), allDone: null, ...more };
}

const plan = (of: ReactionFacts, settings: ReactionSettings, at = now): string[] =>
  planReactions(of, settings, at).map(shortly);

function shortly(step: ReactionStep): string {
  switch (step.do) {
    case "ask-threads":
      return "ask-threads";
    case "clear":
      return `clear ${step.reaction}`;
    case "escalate":
      return `escalate ${step.reaction}`;
    case "send":
    case "notify":
    case "merge":
      return `${step.do} ${step.reaction} ${step.attempt}`;
    default:
      return step satisfies never;
  }
}

/** The session after a step was carried out. */
function after(events: SessionEvent[], of: ReactionFacts, settings: ReactionSettings, at = now): SessionEvent[] {
  const more = planReactions(of, settings, at).flatMap((step): SessionEvent[] => {
    if (step.do === "ask-threads") return [];
    if (step.do === "clear") return [{ type: "reaction.cleared", reaction: step.reaction }];
    const { reaction, key, why } = step;
    if (step.do === "escalate") return [{ type: "reaction.escalated", reaction, key, why }];
    const action = step.setting.action;
    return [{ type: "reaction.fired", reaction, key, why, action, attempt: step.attempt }];
  });
  return [...events, ...more];
}

describe("[REACTION-1] the same content is reacted to once", () => {
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

test("[REACTION-2] without configuration people are told, and nothing else happens", () => {
  const all = fold([...upNow, seen({ ...red, conflict: true, review: "changes_requested" })]);
  expect(plan(facts(all, "ci_failed"), {}, now + idleAfterMs)).toEqual([]);
  const ok = facts(fold([...upNow, seen(green)]), "mergeable");
  expect(plan(ok, {})).toEqual(["notify approved-and-green 1"]);
  expect(plan(ok, { "approved-and-green": { action: "notify", enabled: false } })).toEqual([]);
  expect(plan(ok, { "approved-and-green": { action: "merge" } })).toEqual(["merge approved-and-green 1"]);
});

describe("[REACTION-3] a budget, then a person, then a whole budget again", () => {
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

  test("an agent that was told and stays idle is a person's business, once", () => {
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

describe("[REACTION-4] who is sent a message, and who is not", () => {
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

  test("a question is a person's, whatever is configured", () => {
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

test("[REACTION-9] checks are waited for, but not for ever", () => {
  const settings = { "ci-failed": send };
  const session = fold([...upNow, seen({ checks: [check("lint", "failed"), check("slow", "pending")] })]);
  expect(plan(facts(session, "ci_failed"), settings)).toEqual([]);
  const later = now + pendingPatienceMs;
  expect(plan(facts(session, "ci_failed", { polledAt: later }), settings, later)).toEqual(["send ci-failed 1"]);
});

test("[REACTION-12] a merge is tried within its budget, not in one breath, and then a person is told", () => {
  const settings = { "approved-and-green": { action: "merge", retries: 2 } } as const;
  let events: (SessionEvent & { at?: number })[] = [...upNow, seen(green)];
  const done: string[][] = [];
  for (const at of [now, now + 1_000, now + 100_000, now + 200_000, now + 300_000]) {
    const of = facts(fold(events), "mergeable", { polledAt: at });
    done.push(plan(of, settings, at));
    const before = events.length;
    events = after(events, of, settings, at).map((event, index) => (index < before ? event : { ...event, at }));
  }
  expect(done).toEqual([
    ["merge approved-and-green 1"],
    [],
    ["merge approved-and-green 2"],
    ["escalate approved-and-green"],
    [],
  ]);
  for (const not of [{ review: "none" }, { mergeable: null }, { draft: true }, { conflict: true }, red] as const) {
    expect(plan(facts(fold([...upNow, seen({ ...green, ...not })]), "pr_open"), settings), JSON.stringify(not)).toEqual(
      [],
    );
  }
});

test("[TRUST-10] S15: an agent's claim of a foreign pull request counts for nothing, also when it is seen again", () => {
  const settings = { "approved-and-green": { action: "merge" } } as const;
  const foreign = seen({ ...green, headBranch: "somebody-elses" });
  const { url } = (foreign as Extract<SessionEvent, { type: "pull-request.seen" }>).pullRequest;
  const claim = (by: "person" | "session:ma-1"): SessionEvent => ({ type: "pull-request.claimed", url, by });
  const planned = (...events: SessionEvent[]): string[] =>
    plan(facts(fold([...upNow, ...events]), "mergeable"), settings);
  expect(planned(foreign, claim("session:ma-1"))).toEqual(["notify approved-and-green 1"]);
  // Seen again by the poller, which knows nothing of claims.
  expect(planned(foreign, claim("session:ma-1"), foreign)).toEqual(["notify approved-and-green 1"]);
  expect(planned(foreign, claim("session:ma-1"), claim("person"))).toEqual(["merge approved-and-green 1"]);
  expect(planned(seen({ ...green, headBranch: fold(upNow).branch }), claim("session:ma-1"))).toEqual([
    "merge approved-and-green 1",
  ]);
});

test("[REACTION-14] all done: every worker over, one of them finished, once for the set", () => {
  const worker = (id: string, at: number) => ({ ...fold(upNow), id: id as SessionState["id"], lastActivityAt: at });
  const of = (...statuses: Status[]) =>
    statuses.map((status, index) => ({ session: worker(`ma-${index + 1}`, index), status }));
  expect(allDone(of("done", "working"), "notify")).toBeNull();
  expect(allDone(of("exited", "killed"), "notify")).toBeNull();
  expect(allDone([], "notify")).toBeNull();
  const found = allDone(of("merged", "done", "killed"), "notify");
  expect(found?.session).toBe("ma-2");
  expect(allDone(of("done", "done", "exited"), "notify")?.key).toBe(found?.key);
  expect(allDone(of("done", "done"), "notify")?.key).not.toBe(found?.key);
  const settings: ReactionSettings = { "all-done": { action: "notify" } };
  const events = [...upNow];
  const told = facts(fold(events), "merged", { allDone: found?.key ?? null });
  expect(plan(told, settings)).toEqual(["notify all-done 1"]);
  expect(plan({ ...told, session: fold(after(events, told, settings)) }, settings)).toEqual([]);
});

test("[REACTION-16] a message about all that is done is the orchestrator's; without one a person is told", () => {
  const worker = { session: fold(upNow), status: "merged" as const };
  const leader = {
    ...fold([{ ...created, role: "orchestrator" }, ready, started, up]),
    id: "ma-boss" as SessionState["id"],
  };
  const all = [worker, { session: leader, status: "idle" as const }];
  expect(allDone(all, "notify")?.session).toBe(worker.session.id);
  expect(allDone(all, "send-to-agent")?.session).toBe("ma-boss");
  expect(allDone([worker], "send-to-agent")?.session).toBe(worker.session.id);
  const gone = fold([{ ...created, role: "orchestrator" }, ready, started, up, intent({ want: "killed" })]);
  expect(allDone([worker, { session: gone, status: "killed" }], "send-to-agent")?.session).toBe(worker.session.id);

  const settings: ReactionSettings = { "all-done": send };
  const told = (of: SessionState, status: Status) => planReactions(facts(of, status, { allDone: "k" }), settings, now);
  expect(told(leader, "idle").map(shortly)).toEqual(["send all-done 1"]);
  expect(told(leader, "working").map(shortly)).toEqual([]);
  expect(told(leader, "stopped")).toMatchObject([
    { do: "escalate", why: expect.stringContaining("orchestrator is not") },
  ]);
  expect(told(worker.session, "merged")).toMatchObject([
    { do: "escalate", why: expect.stringContaining("no orchestrator") },
  ]);
});

test("[REACTION-15] that a reaction brought an agent back does not end the condition; that anybody else did does", () => {
  const settings: ReactionSettings = { exited: { ...send, retries: 1 } };
  const exit = ended("own-exit");
  const again = [intent({ want: "running" }, "reaction"), { ...started, launch: "l2" as never }, up];
  const first = [...upNow, exit];
  expect(plan(facts(fold(first), "exited"), settings)).toEqual(["send exited 1"]);
  const back = [...after(first, facts(fold(first), "exited"), settings), ...again];
  expect(plan(facts(fold(back), "working"), settings)).toEqual([]);
  const second = [...back, exit];
  expect(plan(facts(fold(second), "exited"), settings)).toEqual(["escalate exited"]);
  const escalated = after(second, facts(fold(second), "exited"), settings);
  expect(plan(facts(fold([...escalated, ...again]), "working"), settings)).toEqual([]);
  const restored = [...escalated, intent({ want: "running" }), up];
  expect(plan(facts(fold(restored), "working"), settings)).toEqual(["clear exited"]);
  // Telling a person has no budget, so nothing is cleared.
  const told = after(first, facts(fold(first), "exited"), {});
  expect(plan(facts(fold([...told, intent({ want: "running" }), up]), "working"), {})).toEqual([]);
});

test("an agent that is idle without a pull request is reminded, each time anew, within the budget", () => {
  const settings: ReactionSettings = { "agent-idle": send };
  const quiet = now + idleAfterMs;
  expect(plan(facts(fold(upNow), "idle"), settings)).toEqual([]);
  expect(plan(facts(fold(upNow), "idle"), settings, quiet)).toEqual(["send agent-idle 1"]);
  expect(plan(facts(fold([created, ready, started, up]), "idle"), settings, quiet)).toEqual([]);
  expect(plan(facts(fold([...upNow, seen()]), "pr_open"), settings, quiet)).toEqual([]);
});

test("[REACTION-13] every step says why", () => {
  const settings = Object.fromEntries(
    (["ci-failed", "merge-conflict"] satisfies ReactionName[]).map((name) => [name, send]),
  );
  const steps = planReactions(facts(fold([...upNow, seen({ ...red, conflict: true })]), "ci_failed"), settings, now);
  expect(steps.map((step) => ("why" in step ? step.why : ""))).toEqual([
    "Checks of pull request #7 failed on aaaaaaaa: lint, test.",
    "Pull request #7 has conflicts with main.",
  ]);
});

describe("notifications state the reason", () => {
  const why = (of: ReactionFacts, at = now): string[] =>
    planReactions(of, {}, at).flatMap((step) => ("why" in step ? [step.why] : []));
  const working: SessionEvent = { type: "activity.changed", activity: "working", source: "hook" };
  const asks: SessionEvent = { type: "activity.changed", activity: "needs_input", source: "screen" };
  const chat = { ...created, kind: "chat" as const };

  test("[REACTION-5] a failed turn notifies once, with the agent's own words", () => {
    const turn: SessionEvent = { type: "turn.started", promptId: null };
    const bad: SessionEvent = { type: "turn.ended", stopReason: "error", promptId: null, message: "no credit left" };
    const events = [chat, ready, started, up, turn, bad];
    const of = (more: SessionEvent[] = []) => facts(fold([...events, ...more]), "idle", { turnFailed: true });
    expect(plan(of(), {})).toEqual(["notify turn-failed 1"]);
    expect(why(of())).toEqual(["Its last turn failed: no credit left."]);
    const told = after(events, of(), {});
    expect(plan(facts(fold(told), "idle", { turnFailed: true }), {})).toEqual([]);
    expect(
      plan(facts(fold([...told, turn, { ...bad, stopReason: "refusal" }]), "idle", { turnFailed: true }), {}),
    ).toEqual(["notify turn-failed 1"]);
    expect(plan(facts(fold(events), "starting"), {})).toEqual([]);
    expect(plan(of(), { "turn-failed": { action: "send-to-agent" } })).toEqual(["send turn-failed 1"]);
    expect(plan(of(), { "turn-failed": { action: "notify", enabled: false } })).toEqual([]);
    // The turn that a message began does not give the budget back; one that ends well does.
    const retried = after(events, of(), { "turn-failed": send });
    expect(plan(facts(fold([...retried, turn]), "working"), { "turn-failed": send })).toEqual([]);
    const good: SessionEvent = { type: "turn.ended", stopReason: "end_turn", promptId: null };
    expect(plan(facts(fold([...retried, turn, good]), "pr_open"), { "turn-failed": send })).toEqual([
      "clear turn-failed",
    ]);
    expect(plan(of(), {}, now + 2 * 60 * 60_000)).toEqual([]);
  });

  test("[REACTION-5] so does a terminal agent that crashed in the middle of its turn", () => {
    const events = [...upNow, working, ended("crash"), started, up];
    expect(why(facts(fold(events), "idle", { turnFailed: true }))).toEqual([
      "The agent crashed during its last turn and was restarted.",
    ]);
  });

  test("[REACTION-6] an agent that is down and a terminal's dialog are named", () => {
    const down = facts(fold([created, ready, started, failed]), "failed", { reason: "no such binary" });
    expect(why(down)).toEqual(["The agent is down: no such binary."]);
    const dialog = "Claude Code asks whether to trust this folder";
    expect(why(facts(fold([...upNow, asks]), "needs_input", { reason: dialog }))).toEqual([`${dialog}.`]);
  });

  test("[REACTION-8] a question that is seen before it is on record does not notify twice", () => {
    const before = facts(fold([...upNow, working]), "needs_input");
    expect(plan(before, {})).toEqual([]);
    expect(plan(facts(fold([...upNow, working, asks]), "needs_input"), {})).toEqual(["notify needs-input 1"]);
  });

  test("[REACTION-7] sessions that were lost together are one notification, by the one that was recorded last", () => {
    const lost = (id: string, at: number): SessionState =>
      fold([{ ...created, id: asSessionId(id) }, ready, started, up, ended("lost", null, at)]);
    const all = Array.from({ length: 7 }, (_, at) => lost(`ma-${at + 4}`, t0 + 50_000 + at));
    const board = all.map((session) => ({ session, status: "failed" as Status }));
    const reason = "lost with the machine or its tmux server, and started with --no-restore";
    const of = (session: SessionState, sessions = board) =>
      facts(session, "failed", { reason, lostTogether: lostTogether(session, sessions) });
    expect(all.map((session) => why(of(session))).filter((found) => found.length > 0)).toEqual([
      [
        "7 sessions were lost with the machine or its tmux server and not restarted: ma-4, ma-5, ma-6, ma-7, ma-8 and 2 more. Restore them: holdfast session restore --all",
      ],
    ]);
    // The end of another one is still being determined: that one will announce all of them.
    const unfinished = [...board.slice(0, -1), { session: fold(upNow), status: "unknown" as Status }];
    expect(unfinished.flatMap(({ session }) => why(of(session, unfinished)))).toEqual([]);
    const [alone] = all;
    expect(why(of(alone!, board.slice(0, 1)))).toEqual([`The agent is down: ${reason}.`]);
  });
});

test("[AUTHORIZE-4] an agent whose command is a plain shell is never reacted to", () => {
  const failing = facts(fold([...upNow, seen(red)]), "ci_failed");
  expect(plan({ ...failing, start: ["agent"] }, { "ci-failed": send })).toEqual(["send ci-failed 1"]);
  expect(plan({ ...failing, start: ["/bin/bash", "-i"] }, { "ci-failed": send })).toEqual([]);
});
