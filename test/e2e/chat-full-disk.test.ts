import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { canMount, runOnSmallDisk } from "../harness/small-disk.ts";

const fixture = fileURLToPath(new URL("chat-full-disk.fixture.ts", import.meta.url));

test.runIf(canMount())(
  "[CHAT-143] on a disk that fills up in mid-turn, output is kept, an agent that writes much is paused, and both turns end with their true stop reason once there is space (needs to mount a disk)",
  async () => {
    expect(await runOnSmallDisk(fixture)).toEqual({
      whileFull: { freeBytes: 0, statuses: ["working", "working"] },
      text: "one\ntwo\nthree\n",
      stopReasons: ["end_turn", "end_turn"],
      wholeFlood: true,
      damaged: [],
      sameAgents: true,
      history: true,
    });
  },
  120_000,
);
