import { describe, expect, test } from "vitest";
import type { SessionEvent } from "../contract/event.ts";
import { asLaunchId, asPromptId, type Want } from "../contract/ids.ts";
import { reduce } from "./reduce.ts";
import type { SessionState } from "./session.ts";
import { applyVerb, conversionEvents, type Verb, type VerbResult, type VerbContext } from "./lifecycle.ts";
import { created, ended, failed, fold, intent, ready, started, t0, trashed, up } from "../supervisor/facts.fixture.ts";

const until = t0 + 60_000;
const person: VerbContext = { by: "person", agent: "down" };
const upNow = [created, ready, started, up];
const states = {
  running: upNow,
  stopped: [...upNow, intent({ want: "stopped" })],
  snoozed: [...upNow, intent({ want: "snoozed", until })],
  archived: [...upNow, intent({ want: "archived" })],
  killed: [...upNow, ended("stopped"), intent({ want: "killed" }), trashed],
  deleted: [...upNow, ended("stopped"), intent({ want: "deleted" }), trashed],
} satisfies Record<string, SessionEvent[]>;
type StateName = keyof typeof states;

/** What is expected, without the sequence: every answer has that of the state it was judged against. */
type Expected = { ok: true; events: readonly SessionEvent[] } | Extract<VerbResult, { ok: false }>;
const wants = (want: Want): Expected => ({ ok: true, events: [intent(want)] });
const running = wants({ want: "running" });
const nothing: Expected = { ok: true, events: [] };

/** Judges, and checks that the answer names the state it is for. */
function judge(state: SessionState | null, verb: Verb, context: VerbContext): Expected {
  const answer = applyVerb(state, verb, context);
  if (!answer.ok) return answer;
  const { seq, ...rest } = answer;
  expect(seq).toBe(state?.seq);
  return rest;
}
const refused = (message: string, hint: string | null, code: "conflict" | "not-found" = "conflict"): Expected => ({
  ok: false,
  code,
  message,
  hint,
  ...(code === "not-found" ? { reason: "session-not-found" } : {}),
  ...(message.startsWith("Cannot ") ? { reason: "verb-refused" } : {}),
});
const notFound = refused("Session not found", "List sessions: holdfast session ls --include-terminated", "not-found");
const backBy = (verb: string): string => `Bring it back first: holdfast session ${verb} ma-1`;
const killedFirst = (verb: string): Expected => refused(`Cannot ${verb}: Session was killed`, backBy("restore"));
const admitted: SessionEvent = { type: "prompt.admitted", promptId: asPromptId("p-1"), text: "hello", by: "person" };
const prompt: Verb = { verb: "prompt", promptId: asPromptId("p-1"), text: "hello" };
const converting = wants({ want: "running", convert: { kind: "chat", fresh: false } });
const renamed: Expected = { ok: true, events: [{ type: "session.renamed", title: "new", by: "person" }] };

const table: [Verb, Record<StateName, Expected>][] = [
  [
    { verb: "stop" },
    {
      running: wants({ want: "stopped" }),
      stopped: nothing,
      snoozed: wants({ want: "stopped" }),
      archived: nothing,
      killed: killedFirst("stop"),
      deleted: notFound,
    },
  ],
  [
    { verb: "snooze", until },
    {
      running: wants({ want: "snoozed", until }),
      stopped: wants({ want: "snoozed", until }),
      snoozed: wants({ want: "snoozed", until }),
      archived: wants({ want: "snoozed", until }),
      killed: killedFirst("snooze"),
      deleted: notFound,
    },
  ],
  [
    { verb: "archive" },
    {
      running: wants({ want: "archived" }),
      stopped: wants({ want: "archived" }),
      snoozed: wants({ want: "archived" }),
      archived: nothing,
      killed: killedFirst("archive"),
      deleted: notFound,
    },
  ],
  [
    { verb: "wake" },
    {
      running: refused("Cannot wake: Session is not snoozed", null),
      stopped: refused("Cannot wake: Session is not snoozed", backBy("restore")),
      snoozed: running,
      archived: refused("Cannot wake: Session is not snoozed", backBy("unarchive")),
      killed: killedFirst("wake"),
      deleted: notFound,
    },
  ],
  [
    { verb: "unarchive" },
    {
      running: refused("Cannot unarchive: Session is not archived", null),
      stopped: refused("Cannot unarchive: Session is not archived", backBy("restore")),
      snoozed: refused("Cannot unarchive: Session is not archived", backBy("wake")),
      archived: running,
      killed: killedFirst("unarchive"),
      deleted: notFound,
    },
  ],
  [
    { verb: "kill" },
    {
      running: wants({ want: "killed" }),
      stopped: wants({ want: "killed" }),
      snoozed: wants({ want: "killed" }),
      archived: wants({ want: "killed" }),
      killed: nothing,
      deleted: notFound,
    },
  ],
  [
    { verb: "delete" },
    {
      running: wants({ want: "deleted" }),
      stopped: wants({ want: "deleted" }),
      snoozed: wants({ want: "deleted" }),
      archived: wants({ want: "deleted" }),
      killed: wants({ want: "deleted" }),
      deleted: notFound,
    },
  ],
  [
    { verb: "restore" },
    { running, stopped: running, snoozed: running, archived: running, killed: running, deleted: notFound },
  ],
  [
    { verb: "rename", title: "new" },
    {
      running: renamed,
      stopped: renamed,
      snoozed: renamed,
      archived: renamed,
      killed: renamed,
      deleted: notFound,
    },
  ],
  [
    { verb: "convert", kind: "chat", fresh: false, handsOver: true },
    {
      running: converting,
      stopped: converting,
      snoozed: converting,
      archived: converting,
      killed: killedFirst("convert"),
      deleted: notFound,
    },
  ],
  [
    { verb: "halt" },
    {
      running: wants({ want: "stopped" }),
      stopped: nothing,
      snoozed: nothing,
      archived: nothing,
      killed: nothing,
      deleted: notFound,
    },
  ],
  [
    prompt,
    {
      running: { ok: true, events: [admitted] },
      stopped: { ok: true, events: [intent({ want: "running" }), admitted] },
      snoozed: { ok: true, events: [intent({ want: "running" }), admitted] },
      archived: { ok: true, events: [intent({ want: "running" }), admitted] },
      killed: refused("Session was killed", backBy("restore")),
      deleted: notFound,
    },
  ],
];

describe("[DECIDE-13] each verb in each state", () => {
  for (const [verb, answers] of table) {
    for (const [name, answer] of Object.entries(answers)) {
      test(`${verb.verb} of a ${name} session`, () => {
        expect(judge(fold(states[name as StateName]), verb, person)).toEqual(answer);
      });
    }
  }
});

describe("restore", () => {
  const restore: Verb = { verb: "restore" };
  const of = (events: SessionEvent[], context: Partial<VerbContext> = {}): Expected =>
    judge(fold(events), restore, { ...person, ...context });

  test("[DECIDE-13] of what runs is refused in the known words", () => {
    expect(of(upNow, { agent: "alive" })).toMatchObject({
      ok: false,
      message: "Cannot restore: Session is still running",
    });
  });

  test("[DECIDE-13] of what cannot be observed is refused and says why", () => {
    expect(of(upNow, { agent: { unknown: "tmux did not answer" } })).toMatchObject({
      ok: false,
      message: "Cannot restore: Session could not be observed (tmux did not answer)",
    });
  });

  test("of a killed session whose tree is still being ended is accepted", () => {
    expect(of([...upNow, intent({ want: "killed" })], { agent: "alive" })).toEqual(running);
  });

  test.each([
    ["exited", [...upNow, ended("own-exit")]],
    ["failed", [created, ready, started, failed]],
    ["crashed", [...upNow, ended("crash")]],
  ])("of an %s session asks for it again", (_name, events) => {
    expect(of(events)).toEqual(running);
  });

  test("[SESSION-22] of a killed session is a person's alone", () => {
    for (const by of ["cleanup", "snooze-timer", "session:ma-9"]) {
      expect(of(states.killed, { by })).toMatchObject({ ok: false, code: "forbidden" });
      expect(of(states.stopped, { by })).toMatchObject({ ok: true });
    }
  });

  test("[DECIDE-23] without its worktree is refused and names the path", () => {
    const missing = { ok: false, message: `Workspace missing: ${created.workspacePath}` };
    expect(of([...states.killed, { type: "workspace.gone", reason: "emptied" }])).toMatchObject(missing);
    const hint = expect.stringContaining(`holdfast spawn ${created.project} --branch ${created.branch}`);
    expect(of(states.stopped, { workspaceMissing: true })).toMatchObject({ ...missing, hint });
    expect(judge(fold(states.archived), { verb: "unarchive" }, { ...person, workspaceMissing: true })).toMatchObject(
      missing,
    );
  });
});

describe("prompt", () => {
  const admit = (events: SessionEvent[]): Expected => judge(fold(events), prompt, person);
  const woken: Expected = { ok: true, events: [intent({ want: "running" }), admitted] };
  const just: Expected = { ok: true, events: [admitted] };
  const crash = ended("crash");

  test("[SESSION-24] to a killed session is refused and says how to restore it", () => {
    expect(admit(states.killed)).toEqual(
      refused("Session was killed", "Bring it back first: holdfast session restore ma-1"),
    );
  });

  test.each([
    ["an exited session wakes it", [...upNow, ended("own-exit")], woken],
    ["a failed session wakes it", [created, ready, started, failed], woken],
    ["a session with its crash budget used up wakes it", [...upNow, crash, started, crash, started, crash], woken],
    ["a session lost with the machine wakes it", [...upNow, ended("lost")], woken],
    ["a session that is being started waits there", [created, ready, started], just],
    ["a session that starts again after a crash waits there", [...upNow, crash], just],
  ])("[DECIDE-13] to %s", (_title, events, answer) => {
    expect(admit(events)).toEqual(answer);
  });
});

test("[SESSION-23] a verb on something that does not exist is told so", () => {
  expect(judge(null, { verb: "kill" }, person)).toEqual(notFound);
});

test("a rename to the same title writes nothing", () => {
  expect(judge(fold(upNow), { verb: "rename", title: created.title }, person)).toEqual(nothing);
});

test("[REACTION-15] whoever prompts an agent has taken up its silence; a reaction has not", () => {
  const told = (
    reaction: "exited" | "agent-idle" | "ci-failed",
    action: "send-to-agent" | "notify" = "send-to-agent",
  ) => ({ type: "reaction.fired", reaction, action, why: "", key: reaction, attempt: 1 }) as const;
  const state = fold([...upNow, told("exited", "notify"), told("agent-idle"), told("ci-failed")]);
  expect(judge(state, prompt, person)).toEqual({
    ok: true,
    events: [{ type: "reaction.cleared", reaction: "agent-idle" }, admitted],
  });
  expect(judge(state, prompt, { ...person, by: "reaction" })).toEqual({
    ok: true,
    events: [{ ...admitted, by: "reaction" }],
  });
});

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

describe("[SESSION-34] what a policy planned is judged again when it is written", () => {
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

describe("[SESSION-35] killed is left by your own restore alone, deleted by nothing", () => {
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
