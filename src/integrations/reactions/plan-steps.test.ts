import { describe, expect, test } from "vitest";
import type { SessionEvent } from "../../contract/event.ts";
import { asSessionId, type Status } from "../../contract/ids.ts";
import type { ReactionName, ReactionSettings } from "../../contract/reaction.ts";
import type { SessionState } from "../../model/session.ts";
import { allDone, idleAfterMs, pendingPatienceMs, lostTogether } from "./conditions.ts";
import { planReactions, type ReactionFacts } from "./plan.ts";
import { created, ended, failed, fold, intent, ready, started, t0, up } from "../../supervisor/facts.fixture.ts";
import { check, seen } from "./pull-request.fixture.ts";
import { now, upNow, send, red, green, facts, plan, shortly, after } from "./plan.fixture.ts";

test("[REACTION-9] pending checks are waited for, but not forever", () => {
  const settings = { "ci-failed": send };
  const session = fold([...upNow, seen({ checks: [check("lint", "failed"), check("slow", "pending")] })]);
  expect(plan(facts(session, "ci_failed"), settings)).toEqual([]);
  const later = now + pendingPatienceMs;
  expect(plan(facts(session, "ci_failed", { polledAt: later }), settings, later)).toEqual(["send ci-failed 1"]);
});

test("[REACTION-12] a merge is retried with a delay within its budget, then the user is notified", () => {
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

test("[REACTION-14] all done: every worker over, one of them finished, once per set", () => {
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
  const merged = facts(fold(events), "merged", { allDone: found?.key ?? null });
  expect(plan(merged, settings)).toEqual(["notify all-done 1"]);
  expect(plan({ ...merged, session: fold(after(events, merged, settings)) }, settings)).toEqual([]);
});

test("[REACTION-16] the orchestrator gets the all-done message; without one the user is notified", () => {
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
  const planned = (of: SessionState, status: Status) =>
    planReactions(facts(of, status, { allDone: "k" }), settings, now);
  expect(planned(leader, "idle").map(shortly)).toEqual(["send all-done 1"]);
  expect(planned(leader, "working").map(shortly)).toEqual([]);
  expect(planned(leader, "stopped")).toMatchObject([
    { do: "escalate", why: expect.stringContaining("orchestrator is not") },
  ]);
  expect(planned(worker.session, "merged")).toMatchObject([
    { do: "escalate", why: expect.stringContaining("no orchestrator") },
  ]);
});

test("[REACTION-15] a restart by a reaction does not end the condition; any other restart does", () => {
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
  const reacted = after(first, facts(fold(first), "exited"), {});
  expect(plan(facts(fold([...reacted, intent({ want: "running" }), up]), "working"), {})).toEqual([]);
});

test("an agent that is idle without a pull request is reminded each time, within the budget", () => {
  const settings: ReactionSettings = { "agent-idle": send };
  const quiet = now + idleAfterMs;
  expect(plan(facts(fold(upNow), "idle"), settings)).toEqual([]);
  expect(plan(facts(fold(upNow), "idle"), settings, quiet)).toEqual(["send agent-idle 1"]);
  expect(plan(facts(fold([created, ready, started, up]), "idle"), settings, quiet)).toEqual([]);
  expect(plan(facts(fold([...upNow, seen()]), "pr_open"), settings, quiet)).toEqual([]);
});

test("[REACTION-13] every step states the reason", () => {
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
    const merged = after(events, of(), {});
    expect(plan(facts(fold(merged), "idle", { turnFailed: true }), {})).toEqual([]);
    expect(
      plan(facts(fold([...merged, turn, { ...bad, stopReason: "refusal" }]), "idle", { turnFailed: true }), {}),
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
