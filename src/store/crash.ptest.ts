import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { asSessionId } from "../contract/ids.ts";
import { makeHome, type Home } from "./store.fixture.ts";

const child = fileURLToPath(new URL("append-loop.fixture.ts", import.meta.url));
const rounds = 10;
/** Reports to wait for before the kill, at most: within that the moment is left to the seed and to the machine. */
const mostReports = 300;

it("[STORE-21] keeps every reported commit, without a gap, whenever the process is killed", async () => {
  const seed = Number(process.env["HOLDFAST_TEST_SEED"] ?? Date.now() % 1_000_000);
  console.log(`seed ${seed} (HOLDFAST_TEST_SEED repeats it)`);
  const random = mulberry(seed);
  const home = makeHome();
  const reported = new Map<string, number>();
  for (let round = 0; round < rounds; round++) {
    await appendUntilKilled(home, Math.floor(random() * mostReports), reported);
    const store = home.open({});
    for (const [id, seq] of reported) {
      const events = store.events(asSessionId(id), 0, 1_000_000);
      expect(events.length, `${id} of round ${round}, seed ${seed}`).toBeGreaterThanOrEqual(seq);
      expect(events.map((event) => event.seq)).toEqual(Array.from(events, (_, i) => i + 1));
      expect(store.session(asSessionId(id))?.seq).toBe(events.length);
    }
    expect(store.verify()).toEqual([]);
    store.close();
  }
  expect(reported.size).toBe(3);
});

/** Waits for some reports, kills in the middle of whatever follows, and takes in all that was reported until then. */
async function appendUntilKilled(home: Home, reports: number, reported: Map<string, number>): Promise<void> {
  const appender = spawn(process.execPath, [child, home.options.path], { stdio: ["ignore", "pipe", "inherit"] });
  const closed = once(appender, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  let seen = 0;
  for await (const line of createInterface({ input: appender.stdout })) {
    const [id, seq] = line.split(" ");
    // A last line may be cut short by the kill: a shorter number only claims less.
    reported.set(id!, Math.max(reported.get(id!) ?? 0, Number(seq)));
    if (seen++ === reports) appender.kill("SIGKILL");
  }
  const [, signal] = await closed;
  expect(signal).toBe("SIGKILL");
}

/** A small generator whose numbers a seed repeats. */
function mulberry(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
