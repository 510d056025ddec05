/** Time since boot. Unlike the time of day it cannot be set, and unlike Node's own timers it includes time asleep. */
import { readFileSync } from "node:fs";
import { uptime } from "node:os";

/** HOLDFAST_TEST_UPTIME names a file whose number of milliseconds is added, for days that a test does not wait for. */
const offset = process.env["HOLDFAST_TEST_UPTIME"];

export function uptimeMs(): number {
  return uptime() * 1000 + (offset === undefined ? 0 : Number(readFileSync(offset, "utf8")));
}
