import { describe, expect, test } from "vitest";
import type { SessionEvent } from "../contract/event.ts";
import { asLaunchId, asPromptId } from "../contract/ids.ts";
import { reduce } from "./reduce.ts";
import type { SessionState } from "./session.ts";
import { conversionEvents, type Verb, type VerbContext } from "./lifecycle.ts";
import { ended, fold, intent, started, t0 } from "../supervisor/facts.fixture.ts";
import {
  until,
  person,
  upNow,
  states,
  type Expected,
  running,
  nothing,
  judge,
  refused,
  notFound,
  admitted,
  prompt,
  converting,
} from "./lifecycle.fixture.ts";

describe("convert", () => {
  const convert = { verb: "convert", kind: "chat", fresh: false, handsOver: false } as const;
  const pending = fold([...upNow, intent({ want: "running", convert: { kind: "chat", fresh: false } })]);

  test("[SESSION-57] is refused where it changes nothing, or where the conversation cannot be handed over", () => {
    expect(judge(fold(upNow), { ...convert, kind: "terminal" }, person)).toEqual(
      refused("ma-1 is already a terminal session.", null),
    );
    expect(judge(fold(upNow), convert, person)).toEqual(converting);
    const used = fold([...upNow, { type: "conversation.used" }]);
    expect(judge(used, convert, person)).toMatchObject({ ok: false, hint: expect.stringContaining("--fresh") });
    expect(judge(used, { ...convert, fresh: true }, person)).toMatchObject({ ok: true });
    expect(judge(used, { ...convert, handsOver: true }, person)).toMatchObject({ ok: true });
    expect(judge(fold(upNow), convert, { ...person, workspaceMissing: true })).toMatchObject({ ok: false });
  });

  test("[SESSION-57] a prompt and a restore leave it as it is, every other verb takes it back", () => {
    const exited = fold([
      ...upNow,
      intent({ want: "running", convert: { kind: "chat", fresh: false } }),
      ended("own-exit"),
    ]);
    expect(judge(pending, prompt, person)).toEqual({ ok: true, events: [admitted] });
    expect(judge(exited, prompt, person)).toEqual({ ok: true, events: [admitted] });
    expect(judge(exited, { verb: "restore" }, person)).toEqual(nothing);
    expect(judge(pending, { ...convert, kind: "terminal" }, person)).toEqual(running);
    for (const verb of ["stop", "archive", "kill", "delete"] as const) {
      const after = judge(pending, { verb }, person);
      expect(after).toMatchObject({ ok: true, events: [{ type: "session.intent" }] });
    }
  });

  test("[SESSION-58] its last step is written over its own intent alone, with nothing running", () => {
    const planned = fold([
      ...upNow,
      intent({ want: "running", convert: { kind: "chat", fresh: true } }),
      ended("stopped"),
    ]);
    const then = (...events: SessionEvent[]): SessionState =>
      events.reduce((state, event) => reduce(state, { ...event, seq: state.seq + 1, at: t0 }), planned);
    expect(conversionEvents(planned, planned, false).map(({ type }) => type)).toEqual([
      "session.converted",
      "context.reset",
    ]);
    expect(conversionEvents(planned, planned, true).map(({ type }) => type)).toEqual(["session.converted"]);
    for (const want of ["stopped", "archived", "killed", "deleted", "running"] as const) {
      expect(conversionEvents(planned, then(intent({ want })), false), want).toEqual([]);
    }
    const again = intent({ want: "running", convert: { kind: "chat", fresh: false } });
    expect(conversionEvents(planned, then(again), false)).toEqual([]);
    expect(conversionEvents(planned, then(started), false)).toEqual([]);
  });
});

describe("[SESSION-34] a policy's plan is judged again when it is written", () => {
  const idle = fold(upNow);
  const quiet: Verb = { verb: "idle-stop", quietSince: idle.lastActivityAt };
  const by = (actor: string): VerbContext => ({ by: actor, agent: "down" });
  const stoppedBy = (actor: string): Expected => ({ ok: true, events: [intent({ want: "stopped" }, actor)] });

  test("an idle session is stopped, unless anything happened or was asked for since", () => {
    const context = by("idle-stop");
    expect(judge(idle, quiet, context)).toEqual(stoppedBy("idle-stop"));
    const since: SessionEvent[] = [
      { type: "prompt.admitted", promptId: asPromptId("p-1"), text: "", by: "person" },
      { type: "turn.started", promptId: null },
      intent({ want: "running" }),
      intent({ want: "running", convert: { kind: "chat", fresh: false } }),
      intent({ want: "snoozed", until }),
      intent({ want: "killed" }),
    ];
    for (const event of since) expect(judge(fold([...upNow, event]), quiet, context), event.type).toEqual(nothing);
  });

  test("a snooze ends at its own time, and not at that of an earlier one", () => {
    const snooze = intent({ want: "snoozed", until });
    const snoozed = fold([...upNow, snooze]);
    const end: Verb = { verb: "end-snooze", snooze: snoozed.seq };
    const context = by("snooze-timer");
    expect(judge(snoozed, end, context)).toEqual({ ok: true, events: [intent({ want: "running" }, "snooze-timer")] });
    for (const later of [snooze, intent({ want: "stopped" }), intent({ want: "killed" })])
      expect(judge(fold([...upNow, snooze, later]), end, context)).toEqual(nothing);
  });

  test("a cleanup kills only what it judged", () => {
    const judged = fold([...upNow, ended("own-exit")]);
    const cleanup: Verb = { verb: "cleanup", judged };
    const context = by("cleanup");
    expect(judge(judged, cleanup, context)).toEqual({ ok: true, events: [intent({ want: "killed" }, "cleanup")] });
    const other = asLaunchId("launch-2");
    const since: SessionEvent[] = [
      { type: "prompt.admitted", promptId: asPromptId("p-1"), text: "", by: "person" },
      intent({ want: "running" }),
      { type: "launch.started", launch: other, how: "fresh", attempt: 1 },
    ];
    for (const event of since)
      expect(judge(fold([...upNow, ended("own-exit"), event]), cleanup, context), event.type).toEqual(nothing);
  });
});

describe("[SESSION-35] only your own restore leaves killed, and nothing leaves deleted", () => {
  const every: Verb[] = [
    ...(["stop", "wake", "archive", "unarchive", "kill", "restore", "halt"] as const).map((verb) => ({ verb })),
    { verb: "snooze", until },
    prompt,
    { verb: "convert", kind: "chat", fresh: true, handsOver: true },
    { verb: "idle-stop", quietSince: Number.MAX_SAFE_INTEGER },
    { verb: "end-snooze", snooze: 6 },
    { verb: "cleanup", judged: fold(states.killed) },
  ];

  test.each(["person", "cleanup", "idle-stop", "snooze-timer", "reaction", "session:ma-9"])("by %s", (by) => {
    for (const verb of every) {
      const killed = judge(fold(states.killed), verb, { by, agent: "down" });
      const leaves = killed.ok && killed.events.some(({ type }) => type === "session.intent");
      expect(leaves, verb.verb).toBe(verb.verb === "restore" && by === "person");
      expect(judge(fold(states.deleted), verb, { by, agent: "down" }), verb.verb).toEqual(notFound);
    }
  });
});
