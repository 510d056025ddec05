/** An agent that has ended by itself: its keeper is about to write down how. On a busy machine that takes a moment. */
import { setTimeout as delay } from "node:timers/promises";
import { isAlive, readStat } from "../base/pid.ts";
import { identityOf, type Worker } from "./agent-process.ts";
import { readExit } from "./agent-files.ts";

/** Without it an agent that left of its own accord would count as crashed; but others wait to be looked at meanwhile. */
const writtenMs = 4_000;
const pollMs = 3;

export async function awaitExit(worker: Worker): Promise<void> {
  const { agent, keeper } = worker.record;
  if (agent !== null && isAlive(identityOf(worker.record, agent))) return;
  const until = performance.now() + writtenMs;
  // One that is stopped would never write it.
  const writes = (): boolean =>
    keeper === null || (isAlive(identityOf(worker.record, keeper)) && readStat(keeper.pid)?.state !== "T");
  while (readExit(worker.directory) === null && writes() && performance.now() < until) await delay(pollMs);
}
