/** A daemon that is killed at random moments, often inside its own start, while clients keep sending requests. */
import { setTimeout as delay } from "node:timers/promises";
import type { Run } from "./report.ts";
import type { World } from "./world.ts";

export interface StormOptions {
  /** Share of kills inside the start. */
  early?: number;
  /** The longest life of a daemon that answered. */
  longestMs?: number;
  /** How long one daemon in `calmEvery` lives, so that slow verbs make progress on a busy machine. */
  calmMs?: number;
  /** Ends the storm after this many kills, before its time is up. */
  kills?: number;
}

const calmEvery = 4;
/** How long a calm daemon lives at most, in starts. */
const startsPerCalm = 5;
/** A start takes 120 ms on an idle machine and a second on a busy one. */
const startMs = 300;

/** Kills until the time is up. `meanwhile` runs next to each daemon and should return soon after `signal` aborts. */
export async function storm(
  run: Run,
  world: World,
  options: StormOptions,
  meanwhile?: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const { early = 0.25, longestMs = 900, calmMs = 2_500, kills = Infinity } = options;
  const over = new AbortController();
  const clients = meanwhile?.(over.signal) ?? Promise.resolve();
  await world.killDaemons();
  try {
    for (let n = 0; n < kills && !run.timeIsUp; n++) {
      const daemon = world.startDaemon();
      const calm = n % calmEvery === calmEvery - 1;
      if (!calm && run.random.chance(early)) await delay(run.random.between(0, startMs));
      else {
        const startedAt = performance.now();
        await daemon.ready;
        // On a machine where a start takes seconds, everything else that must be interrupted does too.
        const slow = startsPerCalm * (performance.now() - startedAt);
        await delay(run.random.between(0, calm ? Math.max(calmMs, slow) : longestMs));
      }
      // A client's CLI may have started another one.
      if ((await world.killDaemons()) > 0) run.count("kills");
      await daemon.exited;
    }
  } finally {
    over.abort();
    await clients;
  }
  await world.calm();
}
