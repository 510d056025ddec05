/** Stops and continues an agent with all that it started, whatever session that is in; keeper, feeder and watcher stay awake. */
import { setTimeout as delay } from "node:timers/promises";
import { readStat, signalIdentity, type Identity } from "../base/pid.ts";
import { findTree } from "../base/process-tree.ts";
import { launchMarker } from "../contract/worker-record.ts";
import { firstsOf, recordedIdentities, type Worker } from "./agent-process.ts";
import { readPids } from "./agent-files.ts";

/** A process that writes is stopped when its write is done; on a slow disk that takes a moment. */
const stoppedMs = 2_000;
const pollMs = 2;

/** True when one look found everything stopped: then nothing is written and nothing forks away. */
export async function stopTree(worker: Worker): Promise<boolean> {
  const until = performance.now() + stoppedMs;
  for (;;) {
    const awake = (await agentTree(worker)).filter(({ pid }) => !isStopped(pid));
    if (awake.length === 0) return true;
    for (const identity of awake) signalIdentity(identity, "SIGSTOP");
    if (performance.now() >= until) return false;
    await delay(pollMs);
  }
}

export async function continueTree(worker: Worker): Promise<void> {
  for (const identity of await agentTree(worker)) signalIdentity(identity, "SIGCONT");
}

async function agentTree(worker: Worker): Promise<Identity[]> {
  const { keeper, feeder, watcher } = readPids(worker.directory);
  const members = await findTree({
    roots: recordedIdentities(worker.record),
    marker: { name: launchMarker, values: [worker.launch] },
    cgroups: [worker.record.cgroup ?? []].flat(),
    ...firstsOf([worker.record]),
  });
  return members
    .map(({ identity }) => identity)
    .filter(({ pid }) => {
      if (pid === keeper || pid === feeder || pid === watcher) return false;
      // What feeds it, and what the watcher waits with.
      const parent = readStat(pid)?.parent ?? null;
      return parent === null || (parent !== feeder && parent !== watcher);
    });
}

function isStopped(pid: number): boolean {
  const state = readStat(pid)?.state ?? "X";
  return state === "T" || state === "t" || state === "Z" || state === "X";
}
