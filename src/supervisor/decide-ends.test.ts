import { describe } from "vitest";
import type { SessionEvent } from "../contract/event.ts";
import type { ExitStatus } from "../contract/ids.ts";
import type { Action } from "../model/facts.ts";
import {
  base,
  chat,
  check,
  recheck,
  now,
  recordEnd,
  settle,
  settleTurn,
  turn,
  type Row,
  upNow,
} from "./decide.fixture.ts";
import { created, dead, ended, prompt, ready, sending, started, up } from "./facts.fixture.ts";

describe("[DECIDE-5] wanted running: an end is classified by exit code and signal", () => {
  const deadAs = (code: number | null, signal: string | null): Row => {
    const exit = { code, signal };
    const how = code === 0 && signal === null ? "own-exit" : "crash";
    return [
      `[DECIDE-29] exit ${code}, signal ${signal}: ${how}`,
      upNow,
      { runtime: dead(exit) },
      { do: "record-end", how, exit, lastLines: ["bye"] },
    ];
  };
  const leftBy = (events: SessionEvent[], ...exits: ExitStatus[]): Row[] =>
    exits.map((exit) => [
      `[SESSION-14] left by a person with ${exit.signal ?? exit.code}`,
      events,
      { runtime: dead(exit) },
      { do: "record-end", how: "own-exit", exit, lastLines: ["bye"] },
    ]);
  const shell: SessionEvent = { ...created, role: "shell", agent: "shell" };
  check([
    deadAs(0, null),
    deadAs(1, null),
    deadAs(0, "SIGKILL"),
    deadAs(null, "SIGTERM"),
    deadAs(143, null),
    ...leftBy(upNow, { code: 130, signal: null }, { code: null, signal: "SIGINT" }),
    ...leftBy([shell, ready, started, up], { code: 1, signal: null }, { code: 127, signal: null }),
    [
      "a shell that was killed: crash",
      [shell, ready, started, up],
      { runtime: dead({ code: null, signal: "SIGKILL" }) },
      { do: "record-end", how: "crash", exit: { code: null, signal: "SIGKILL" }, lastLines: ["bye"] },
    ],
    [
      "a chat agent has no keys to be pressed: crash",
      [chat, ready, started, up],
      { runtime: dead({ code: 130, signal: null }) },
      { do: "record-end", how: "crash", exit: { code: 130, signal: null }, lastLines: ["bye"] },
    ],
    [
      "dead without a status: crash",
      upNow,
      { runtime: dead(null) },
      { ...recordEnd("crash"), lastLines: ["bye"] } as Action,
    ],
    [
      "dead in the middle of its launch: crash",
      [...base, started],
      { runtime: dead({ code: 1, signal: null }) },
      { do: "record-end", how: "crash", exit: { code: 1, signal: null }, lastLines: ["bye"] },
    ],
    ["absent after a reboot: lost", upNow, { absence: "other-boot" }, recordEnd("lost")],
    ["absent without a tmux server: lost", upNow, { absence: "no-server" }, recordEnd("lost")],
    [
      "[TERMINAL-25] dead without a tmux server, with processes that outlive it for a moment: lost",
      upNow,
      { runtime: dead(null), absence: "no-server" },
      { do: "record-end", how: "lost", exit: null, lastLines: ["bye"] },
    ],
    [
      "[DECIDE-35] dead with code 0 after a stop that was cut off: stopped, and not its own exit",
      upNow,
      { runtime: dead({ code: 0, signal: null }), absence: "stopped" },
      { do: "record-end", how: "stopped", exit: { code: 0, signal: null }, lastLines: ["bye"] },
    ],
    ["[DECIDE-35] absent after a stop that was cut off: stopped", upNow, { absence: "stopped" }, recordEnd("stopped")],
    ["absent and its process proven gone: crash", upNow, { absence: "identity-gone" }, recordEnd("crash")],
    ["absent: crash", upNow, {}, recordEnd("crash")],
    ["nothing seen of its launch: it never came to be", [...base, started], {}, recordEnd("lost")],
    [
      "the same where what is lost stays down: a crash, so that it is tried again",
      [...base, started],
      { restoreLost: false },
      recordEnd("crash"),
    ],
    [
      "lost in a turn: the end, then the turn",
      [chat, ready, started, up, turn],
      { absence: "other-boot" },
      recordEnd("lost"),
    ],
    [
      "dead in a turn: the turn waits until the rest is gone",
      [chat, ready, started, up, turn],
      { runtime: dead({ code: 1, signal: null }) },
      { do: "record-end", how: "crash", exit: { code: 1, signal: null }, lastLines: ["bye"] },
    ],
    [
      "down with an open turn: settled before a launch",
      [chat, ready, started, up, turn, ended("crash")],
      {},
      settleTurn,
    ],
    [
      "down with an interrupted prompt: settled before a launch",
      [...upNow, prompt("p-1"), sending("p-1"), ended("crash")],
      {},
      settle("p-1"),
    ],
    ["[DECIDE-9] absent while the board is looked at again: wait", upNow, { recheckAt: now + 500 }, recheck],
    [
      "[DECIDE-9] dead without a status while the board is looked at again: wait",
      upNow,
      { runtime: dead(null), recheckAt: now + 500 },
      recheck,
    ],
    ["[DECIDE-9] after the second look: concluded", upNow, { recheckAt: now }, recordEnd("crash")],
    [
      "[DECIDE-9] a proven cause does not wait",
      upNow,
      { absence: "other-boot", recheckAt: now + 500 },
      recordEnd("lost"),
    ],
    [
      "[DECIDE-9] an exit status does not wait",
      upNow,
      { runtime: dead({ code: 0, signal: null }), recheckAt: now + 500 },
      { do: "record-end", how: "own-exit", exit: { code: 0, signal: null }, lastLines: ["bye"] },
    ],
  ]);
});
