/** An agent that has ended by itself: its keeper is about to write down how. On a busy machine that takes a moment. */
import { setTimeout as delay } from "node:timers/promises";
import { isAlive } from "../../base/pid.ts";
import { identityOf, type Worker } from "./worker.ts";
import { readExit } from "./worker-files.ts";

/** A keeper that is stopped would never do so. */
const writtenMs = 500;
const pollMs = 3;

export async function awaitExit(worker: Worker): Promise<void> {
  const { agent, keeper } = worker.record;
  if (agent !== null && isAlive(identityOf(worker.record, agent))) return;
  const until = performance.now() + writtenMs;
  const keeperLives = (): boolean => keeper === null || isAlive(identityOf(worker.record, keeper));
  while (readExit(worker.directory) === null && keeperLives() && performance.now() < until) await delay(pollMs);
}
