import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { canMount, runOnSmallDisk } from "../harness/small-disk.ts";

const fixture = fileURLToPath(new URL("daemon-disk.fixture.ts", import.meta.url));

test.runIf(canMount())(
  "[DAEMON-23, DAEMON-15, DAEMON-27, SESSION-2] on a full disk a daemon still starts to record a kill; on a read-only one the start fails with that reason (needs to mount a disk)",
  async () => {
    expect(await runOnSmallDisk(fixture)).toEqual({
      low: [
        1,
        "Only N MB are free on the disk of HOME/worktrees/my-app. Free some space, for example with `holdfast trash empty`.",
        "Nothing was created.",
      ],
      restore: [1, expect.stringContaining("full")],
      kill: [0, "Session ma-1 killed."],
      refused:
        "The disk of HOME/holdfast.db is full; nothing was written.\nFree some space and try again. Sessions can still be stopped, killed and deleted.\n",
      // Ready means that a write works.
      health: [507, "disk-full"],
      wanted: ["killed", "killed", "killed"],
      // The reserve is used up by now.
      start: [1, "The disk with HOME is full; nothing was started.\nFree some space and try again.\n"],
      readOnly: [
        1,
        "Cannot write to HOME: its disk is read-only. Nothing was started.\nMake it writable, or set HOLDFAST_HOME to another directory.\n",
      ],
      doctor: [1, true],
    });
  },
  120_000,
);
