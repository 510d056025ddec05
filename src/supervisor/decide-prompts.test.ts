import { describe } from "vitest";
import type { SessionEvent } from "../contract/event.ts";
import { asPromptId } from "../contract/ids.ts";
import { base, chat, check, deliver, fresh, now, settle, turn, upNow } from "./decide.fixture.ts";
import { retryStartingMs } from "./decide.ts";
import { alive, prompt, ready, sending, started, up } from "./facts.fixture.ts";

describe("[DECIDE-8] prompts go one at a time, in order, and never twice", () => {
  const two = [prompt("p-1"), prompt("p-2")];
  const doubtful: SessionEvent = { type: "prompt.doubtful", promptId: asPromptId("p-1"), reason: "r" };
  check([
    ["up and idle: the first", [...upNow, ...two], { runtime: alive() }, deliver("p-1")],
    [
      "terminal agent at work: it queues what is typed",
      [...upNow, ...two],
      { runtime: alive({ activity: "working" }) },
      deliver("p-1"),
    ],
    [
      "activity not known: the runtime looks before it types",
      [...upNow, ...two],
      { runtime: alive({ activity: null }) },
      deliver("p-1"),
    ],
    [
      "an agent that is starting: looked at again soon",
      [...upNow, ...two],
      { runtime: alive({ activity: null, starting: true }) },
      { do: "wait", until: now + retryStartingMs, why: "agent is starting" },
    ],
    ["a question is open: never typed into", [...upNow, ...two], { runtime: alive({ activity: "needs_input" }) }, null],
    [
      "chat turn open: it waits",
      [chat, ready, started, up, { type: "turn.started", promptId: asPromptId("p-0") }, ...two],
      { runtime: alive({ activity: "working" }) },
      null,
    ],
    [
      "a turn that the agent began by itself does not hold up the person's",
      [chat, ready, started, up, turn, ...two],
      { runtime: alive({ activity: "working" }) },
      { do: "deliver", prompt: asPromptId("p-1") },
    ],
    [
      "chat turn ended: the next",
      [chat, ready, started, up, turn, { type: "turn.ended", stopReason: "end_turn" }, ...two],
      { runtime: alive() },
      deliver("p-1"),
    ],
    [
      "its sending was interrupted: settled first",
      [...upNow, ...two, sending("p-1")],
      { runtime: alive() },
      settle("p-1"),
    ],
    [
      "its sending was interrupted and a question is open: settled by looking",
      [...upNow, ...two, sending("p-1")],
      { runtime: alive({ activity: "needs_input" }) },
      settle("p-1"),
    ],
    [
      "a doubtful one is never repeated and holds up none",
      [...upNow, ...two, sending("p-1"), doubtful],
      { runtime: alive() },
      deliver("p-2"),
    ],
    ["only a doubtful one: nothing", [...upNow, prompt("p-1"), sending("p-1"), doubtful], { runtime: alive() }, null],
    ["not yet up: adopted first", [...base, ...two, started], { runtime: alive() }, { do: "adopt" }],
    ["down: launched first", [...base, ...two], {}, fresh()],
  ]);
});
