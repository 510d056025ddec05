import { describe, expect, test } from "vitest";
import type { SessionEvent } from "../protocol/event.ts";
import { asPromptId } from "../protocol/ids.ts";
import { applyVerb, type Verb, type VerbAnswer, type VerbContext } from "./lifecycle.ts";
import { created, ended, failed, fold, intent, ready, started, t0, trashed, up } from "./test-facts.ts";

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

const wants = (want: Parameters<typeof intent>[0]): VerbAnswer => ({ ok: true, events: [intent(want)] });
const running = wants({ want: "running" });
const nothing: VerbAnswer = { ok: true, events: [] };
const refused = (message: string, hint: string | null, code: "conflict" | "not-found" = "conflict"): VerbAnswer => ({
  ok: false,
  code,
  message,
  hint,
});
const notFound = refused(
  "Session not found",
  "See what there is: holdfast session ls --include-terminated",
  "not-found",
);
const backBy = (verb: string): string => `Bring it back first: holdfast session ${verb} ma-1`;
const killedFirst = (verb: string): VerbAnswer => refused(`Cannot ${verb}: Session was killed`, backBy("restore"));
const admitted: SessionEvent = { type: "prompt.admitted", promptId: asPromptId("p-1"), text: "hello", by: "person" };
const prompt: Verb = { verb: "prompt", promptId: asPromptId("p-1"), text: "hello" };
const renamed: VerbAnswer = { ok: true, events: [{ type: "session.renamed", title: "new", by: "person" }] };

const table: [Verb, Record<StateName, VerbAnswer>][] = [
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

describe("[CORE-13] each verb in each state", () => {
  for (const [verb, answers] of table) {
    for (const [name, answer] of Object.entries(answers)) {
      test(`${verb.verb} of a ${name} session`, () => {
        expect(applyVerb(fold(states[name as StateName]), verb, person)).toEqual(answer);
      });
    }
  }
});

describe("restore", () => {
  const restore: Verb = { verb: "restore" };
  const of = (events: SessionEvent[], context: Partial<VerbContext> = {}): VerbAnswer =>
    applyVerb(fold(events), restore, { ...person, ...context });

  test("[CORE-13] of what runs is refused in the known words", () => {
    expect(of(upNow, { agent: "alive" })).toMatchObject({
      ok: false,
      message: "Cannot restore: Session is still running",
    });
  });

  test("[CORE-13] of what cannot be observed is refused and says why", () => {
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

  test("[KILL-1] of a killed session is a person's alone", () => {
    for (const by of ["cleanup", "snooze-timer", "session:ma-9"]) {
      expect(of(states.killed, { by })).toMatchObject({ ok: false, code: "forbidden" });
      expect(of(states.stopped, { by })).toMatchObject({ ok: true });
    }
  });

  test("[WORK-4] without its worktree is refused and names the path", () => {
    const missing = { ok: false, message: `Workspace missing: ${created.workspacePath}` };
    expect(of([...states.killed, { type: "workspace.gone", reason: "emptied" }])).toMatchObject(missing);
    expect(of(states.stopped, { workspaceMissing: true })).toMatchObject(missing);
    expect(
      applyVerb(fold(states.archived), { verb: "unarchive" }, { ...person, workspaceMissing: true }),
    ).toMatchObject(missing);
  });
});

describe("prompt", () => {
  const admit = (events: SessionEvent[]): VerbAnswer => applyVerb(fold(events), prompt, person);
  const woken: VerbAnswer = { ok: true, events: [intent({ want: "running" }), admitted] };
  const just: VerbAnswer = { ok: true, events: [admitted] };
  const crash = ended("crash");

  test("[KILL-3] to a killed session is refused and says how to restore it", () => {
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
  ])("[CORE-13] to %s", (_title, events, answer) => {
    expect(admit(events)).toEqual(answer);
  });
});

test("[KILL-2] a verb on something that does not exist is told so", () => {
  expect(applyVerb(null, { verb: "kill" }, person)).toEqual(notFound);
});

test("a rename to the same title writes nothing", () => {
  expect(applyVerb(fold(upNow), { verb: "rename", title: created.title }, person)).toEqual(nothing);
});

test("[REACT-11] whoever prompts an agent has taken up its silence; a reaction has not", () => {
  const told = (
    reaction: "exited" | "agent-idle" | "ci-failed",
    action: "send-to-agent" | "notify" = "send-to-agent",
  ) => ({ type: "reaction.fired", reaction, action, why: "", key: reaction, attempt: 1 }) as const;
  const state = fold([...upNow, told("exited", "notify"), told("agent-idle"), told("ci-failed")]);
  expect(applyVerb(state, prompt, person)).toEqual({
    ok: true,
    events: [{ type: "reaction.cleared", reaction: "agent-idle" }, admitted],
  });
  expect(applyVerb(state, prompt, { ...person, by: "reaction" })).toEqual({
    ok: true,
    events: [{ ...admitted, by: "reaction" }],
  });
});
