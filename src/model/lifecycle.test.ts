import { describe, expect, test } from "vitest";
import type { SessionEvent } from "../contract/event.ts";
import { type Verb, type VerbContext } from "./lifecycle.ts";
import { created, ended, failed, fold, intent, ready, started } from "../supervisor/facts.fixture.ts";
import {
  until,
  person,
  upNow,
  states,
  type StateName,
  type Expected,
  wants,
  running,
  nothing,
  judge,
  refused,
  notFound,
  backBy,
  killedFirst,
  admitted,
  prompt,
  converting,
  renamed,
} from "./lifecycle.fixture.ts";

const pinned: Expected = { ok: true, events: [{ type: "session.pinned", by: "person" }] };

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
    { verb: "pin" },
    { running: pinned, stopped: pinned, snoozed: pinned, archived: pinned, killed: pinned, deleted: notFound },
  ],
  [
    { verb: "unpin" },
    { running: nothing, stopped: nothing, snoozed: nothing, archived: nothing, killed: nothing, deleted: notFound },
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

  test("[SESSION-22] only the user restores a killed session", () => {
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

test("[SESSION-23] a verb on an unknown session is refused", () => {
  expect(judge(null, { verb: "kill" }, person)).toEqual(notFound);
});

test("a rename to the same title writes nothing", () => {
  expect(judge(fold(upNow), { verb: "rename", title: created.title }, person)).toEqual(nothing);
});

test("[REACTION-15] a prompt resolves an agent's silence; a reaction's prompt does not", () => {
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
