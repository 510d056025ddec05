import { describe } from "vitest";
import type { SessionEvent } from "../contract/event.ts";
import { asPromptId } from "../contract/ids.ts";
import {
  again,
  base,
  chat,
  check,
  fresh,
  killed,
  recheck,
  now,
  recordEnd,
  retry,
  settle,
  stop,
  upNow,
} from "./decide.fixture.ts";
import {
  absent,
  alive,
  aliveOther,
  created,
  dead,
  ended,
  failed,
  intent,
  prompt,
  ready,
  sending,
  started,
  trashed,
  unknown,
  up,
} from "./facts.fixture.ts";

const notCreated: SessionEvent = { type: "workspace.failed", reason: "no such base" };
const converting = intent({ want: "running", convert: { kind: "chat", fresh: true } });

describe("[DECIDE-33] wanted running as the other kind", () => {
  const turnOpen: SessionEvent = { type: "turn.started", promptId: null };
  check([
    ["not to be seen: wait", [...upNow, converting], { runtime: unknown }, retry],
    ["its agent lives: stop it", [...upNow, converting], { runtime: alive() }, stop("convert")],
    ["its agent is dead: clear it away", [...upNow, converting], { runtime: dead(null) }, stop("convert")],
    ["another launch of it is there: stop it", [...upNow, converting], { runtime: aliveOther }, stop("convert")],
    [
      "gone: its end is recorded, and its turn settled",
      [...upNow, turnOpen, converting],
      { absence: "identity-gone" },
      recordEnd("stopped"),
    ],
    [
      "a prompt was being sent: settled first",
      [...upNow, prompt("p-1"), sending("p-1"), converting, ended("stopped")],
      {},
      settle("p-1"),
    ],
    ["down: it becomes the other kind", [...upNow, converting, ended("stopped")], {}, { do: "convert" }],
    ["down by its own exit: as well", [...upNow, converting, ended("own-exit")], {}, { do: "convert" }],
    ["without a worktree yet: as well", [created, converting], {}, { do: "convert" }],
    ["most of the board looks dead: look again first", [...upNow, converting], { recheckAt: now + 500 }, recheck],
    [
      "became it: launched, whatever the end of the other kind was",
      [...upNow, converting, ended("own-exit"), { type: "session.converted", kind: "chat", by: "person" }],
      {},
      fresh(),
    ],
  ]);
});

describe("[DECIDE-3] wanted running: the worktree comes first", () => {
  check([
    ["planned: make it", [created], {}, { do: "create-workspace" }],
    [
      "planned and the runtime unknown: make it, that harms nothing",
      [created],
      { runtime: unknown },
      { do: "create-workspace" },
    ],
    [
      "in the trash: bring it back",
      [...upNow, ended("stopped"), killed, trashed, again],
      { workspace: absent },
      { do: "restore-workspace" },
    ],
    ["[DECIDE-23] missing: never made anew", base, { workspace: absent }, null],
    [
      "[DECIDE-17] moved to the trash but not recorded so: bring it back",
      base,
      { workspace: absent, workspaceInTrash: true },
      { do: "restore-workspace" },
    ],
    ["removed for good: nothing", [created, { type: "workspace.gone", reason: "emptied" }], {}, null],
    ["its disk does not answer: wait", base, { workspace: unknown }, retry],
    ["[SESSION-9] it could not be created: nothing", [created, notCreated], {}, null],
    [
      "[SESSION-9] it could not be created, and it is asked for again: create it",
      [created, notCreated, again],
      {},
      { do: "create-workspace" },
    ],
    ["its making failed: not tried again", [created, started, failed], {}, null],
    [
      "its making failed and the person asks again: make it",
      [created, started, failed, again],
      {},
      { do: "create-workspace" },
    ],
    ["missing under a living agent: the agent goes on", upNow, { runtime: alive(), workspace: absent }, null],
  ]);
});

describe("[DECIDE-4] wanted running: what lives is kept, one at most", () => {
  check([
    ["unknown: wait", upNow, { runtime: unknown }, retry],
    ["launched but not recorded so: adopt", [...base, started], { runtime: alive() }, { do: "adopt" }],
    ["up and alive: nothing", upNow, { runtime: alive() }, null],
    ["another launch alive: stop it first", upNow, { runtime: aliveOther }, stop("superseded")],
    ["a launch nobody recorded: stop it first", base, { runtime: alive() }, stop("superseded")],
    ["recorded as ended but alive: kept", [...upNow, ended("crash")], { runtime: alive() }, { do: "adopt" }],
    [
      "recorded as failed but alive: its rest is cleared",
      [...base, started, failed],
      { runtime: alive() },
      stop("leftover"),
    ],
    [
      "[DECIDE-30] ended, and its pane still there: cleared before anything else",
      [...upNow, ended("crash")],
      { runtime: dead(null) },
      stop("leftover"),
    ],
  ]);
});

describe("[DECIDE-37] a living chat agent is replaced only where that costs nobody a turn", () => {
  const mine: SessionEvent = { type: "turn.started", promptId: asPromptId("p-0") };
  const asked: SessionEvent = { type: "permission.asked", requestId: "r", title: "t", options: [] };
  const chatUp = [chat, ready, started, up];
  check([
    ["another build, idle: at once", chatUp, { runtime: alive({ stale: true }) }, stop("stale")],
    ["another build, in a turn: it is drained", [...chatUp, mine], { runtime: alive({ stale: true }) }, null],
    ["another build, asking: it waits", [...chatUp, mine, asked], { runtime: alive({ stale: true }) }, null],
    ["deaf and idle", chatUp, { runtime: alive({ deaf: true }) }, stop("deaf")],
    ["deaf in a turn that can still end by itself", [...chatUp, mine], { runtime: alive({ deaf: true }) }, null],
    [
      "deaf, with a question that nobody can answer",
      [...chatUp, mine, asked],
      { runtime: alive({ deaf: true }) },
      stop("deaf"),
    ],
    [
      "a person asked for it, turn or not",
      [...chatUp, mine],
      { runtime: alive(), restartRequested: true },
      stop("restart"),
    ],
    ["a terminal is never replaced", upNow, { runtime: alive({ stale: true, deaf: true }) }, null],
  ]);
});
