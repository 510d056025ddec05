import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { canFail, runOnFailingDisk } from "../harness/small-disk.ts";

const fixture = fileURLToPath(new URL("daemon-disk-fails.fixture.ts", import.meta.url));

test.runIf(canFail())(
  '[DAEMON-24, DAEMON-27] a disk that fails under a running daemon stops nothing: callers get the reason, which is not "full", and doctor reports it (needs to mount a disk)',
  async () => {
    const readOnly = "Cannot write the database HOME/holdfast.db: it, or its disk, is read-only.";
    expect(await runOnFailingDisk(fixture)).toEqual({
      kill: expect.arrayContaining(["1", expect.stringContaining(readOnly)]),
      send: expect.arrayContaining(["1", expect.stringContaining(readOnly)]),
      list: 0,
      health: 500,
      doctor: ["FAIL  home            Cannot write to HOME: its disk is read-only."],
      lives: true,
      start: [
        "1",
        "Cannot write to HOME: its disk is read-only. Nothing was started.",
        "Make it writable, or set HOLDFAST_HOME to another directory.",
      ],
    });
  },
  120_000,
);
