import { describe } from "vitest";
import type { SessionEvent } from "../contract/event.ts";
import {
  base,
  chat,
  check,
  deleted,
  cancelCreate,
  killed,
  recheck,
  now,
  recordEnd,
  retry,
  settle,
  settleTurn,
  stop,
  stopped,
  turn,
  upNow,
} from "./decide.fixture.ts";
import {
  absent,
  alive,
  aliveOther,
  created,
  dead,
  ended,
  intent,
  prompt,
  ready,
  sending,
  started,
  trashed,
  unknown,
  up,
} from "./facts.fixture.ts";

describe("[DECIDE-1] wanted gone: stopped, recorded, settled, cleared away, never launched", () => {
  check([
    ["killed and alive: stop", [...upNow, killed], { runtime: alive() }, stop("killed")],
    [
      "[SESSION-23] killed while it was being launched: stop",
      [...base, started, killed],
      { runtime: alive() },
      stop("killed"),
    ],
    ["deleted and alive: stop", [...upNow, deleted], { runtime: alive() }, stop("deleted")],
    [
      "killed and the agent dead: its pane is still stopped",
      [...upNow, killed],
      { runtime: dead(null) },
      stop("killed"),
    ],
    [
      "killed, end already on record, tree still there: stop again",
      [...upNow, ended("stopped"), killed],
      { runtime: alive() },
      stop("killed"),
    ],
    ["killed and another launch alive: stop", [...upNow, killed], { runtime: aliveOther }, stop("killed")],
    ["killed and absent: the end is recorded", [...upNow, killed], {}, recordEnd("stopped")],
    [
      "killed and absent in a turn: the end, then the turn",
      [chat, ready, started, up, turn, killed],
      {},
      recordEnd("stopped"),
    ],
    [
      "killed, ended, turn still open: the turn",
      [chat, ready, started, up, turn, ended("stopped"), killed],
      {},
      settleTurn,
    ],
    [
      "killed with an interrupted prompt: settled",
      [...upNow, prompt("p-1"), sending("p-1"), ended("stopped"), killed],
      {},
      settle("p-1"),
    ],
    [
      "[SESSION-30] killed while its worktree is made: that ends first",
      [created, killed],
      { isCreating: true },
      cancelCreate,
    ],
    ["killed and ended: the worktree goes", [...upNow, ended("stopped"), killed], {}, { do: "remove-workspace" }],
    [
      "[SESSION-23] killed and everything already gone: its record is still finished",
      [...upNow, ended("stopped"), killed],
      { workspace: absent },
      { do: "remove-workspace" },
    ],
    [
      "[SESSION-1] killed in the middle of a spawn: what was made is undone",
      [created, killed],
      {},
      { do: "remove-workspace" },
    ],
    ["deleted and ended: the worktree goes", [...upNow, ended("crash"), deleted], {}, { do: "remove-workspace" }],
    [
      "[SESSION-22] killed and cleared away: nothing, for ever",
      [...upNow, ended("stopped"), killed, trashed],
      {},
      null,
    ],
    ["deleted and cleared away: nothing, for ever", [...upNow, ended("stopped"), deleted, trashed], {}, null],
    [
      "[SESSION-22] killed with a waiting prompt: nothing is launched for it",
      [...upNow, ended("stopped"), prompt("p-1"), killed, trashed],
      {},
      null,
    ],
    ["killed and unknown: wait", [...upNow, killed], { runtime: unknown }, retry],
    ["killed and the worktree unknown: wait", [...upNow, ended("stopped"), killed], { workspace: unknown }, retry],
    [
      "killed and absent while the board is looked at again: wait",
      [...upNow, killed],
      { recheckAt: now + 500 },
      recheck,
    ],
    [
      "killed and ended while the board is looked at again: wait",
      [...upNow, ended("stopped"), killed],
      { recheckAt: now + 500 },
      recheck,
    ],
  ]);
});

describe("[DECIDE-2] stopped, snoozed, archived: brought down, the worktree untouched", () => {
  const snooze = (until: number): SessionEvent => intent({ want: "snoozed", until });
  check([
    ["stopped and alive: stop", [...upNow, stopped], { runtime: alive() }, stop("wanted-down")],
    ["archived and alive: stop", [...upNow, intent({ want: "archived" })], { runtime: alive() }, stop("wanted-down")],
    ["stopped and absent: the end is recorded", [...upNow, stopped], {}, recordEnd("stopped")],
    ["stopped and down: nothing", [...upNow, ended("stopped"), stopped], {}, null],
    ["stopped before anything was launched: nothing", [created, stopped], {}, null],
    [
      "[SESSION-30] stopped while its worktree is made: that ends",
      [created, stopped],
      { isCreating: true },
      cancelCreate,
    ],
    ["stopped and unknown: wait", [...upNow, stopped], { runtime: unknown }, retry],
    ["snoozed and alive: stop", [...upNow, snooze(now + 9_000)], { runtime: alive() }, stop("wanted-down")],
    [
      "snoozed and down: wait for its time",
      [...base, snooze(now + 9_000)],
      {},
      { do: "wait", until: now + 9_000, why: "snoozed" },
    ],
    ["snoozed and its time has come: wake", [...base, snooze(now)], {}, { do: "wake" }],
    [
      "snoozed past its time and unknown: wake, which touches nothing",
      [...upNow, snooze(now - 1)],
      { runtime: unknown },
      { do: "wake" },
    ],
  ]);
});
