/**
 * The daemon on a home of 500 sessions: start to first answer against an empty Node process started to ready, in turns;
 * then its memory and CPU while idle. Linux, because it reads /proc. About half a minute.
 */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { atMost, print, ratio, round, summarise } from "./lib/figure.ts";
import { makeHome, type BenchHome } from "./lib/home.ts";
import { cpuMs } from "./lib/proc.ts";
import { startDaemon, startEmptyNode } from "./lib/processes.ts";

const rounds = 15;
const sessions = 500;
const goalStart = 3.5;
const goalMegabytes = 80;
const goalCpuPercent = 0.1;
/** By then, start-up work and its garbage collection are done. */
const settleMs = 5_000;
const idleMs = 10_000;

const home = await makeHome(sessions);
try {
  await measureStart(home);
  await measureIdle(home);
} finally {
  home.remove();
}

async function measureStart(home: BenchHome): Promise<void> {
  const empty: number[] = [];
  const answered: number[] = [];
  const ready: number[] = [];
  // The first round migrates the database and warms the caches; it does not count.
  for (let count = 0; count <= rounds; count++) {
    const floor = await once(startEmptyNode);
    const daemon = await once(() => startDaemon(home));
    if (count === 0) continue;
    empty.push(floor.readyMs);
    answered.push(daemon.answeredMs);
    ready.push(daemon.readyMs);
  }
  const { median, min, max } = ratio(answered, empty);
  print({
    bench: "daemon",
    what: `start to first answer, ${sessions} sessions`,
    measured: median,
    unit: "x empty node",
    ...atMost(median, goalStart),
    spread: [min, max],
    rounds,
    emptyMs: summarise(empty),
    readyMs: summarise(ready),
    answeredMs: summarise(answered),
  });
}

async function once(start: () => ReturnType<typeof startEmptyNode>) {
  await using running = await start();
  return { readyMs: running.readyMs, answeredMs: running.answeredMs };
}

async function measureIdle(home: BenchHome): Promise<void> {
  await using daemon = await startDaemon(home);
  await sleep(settleMs);
  const before = cpuMs(daemon.pid);
  const startedAt = performance.now();
  await sleep(idleMs);
  const percent = round(((cpuMs(daemon.pid) - before) / (performance.now() - startedAt)) * 100, 3);
  const memory = readFileSync(`/proc/${daemon.pid}/smaps_rollup`, "utf8");
  const megabytes = (field: string): number =>
    round(Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(memory)?.[1] ?? NaN) / 1024, 1);
  print({
    bench: "daemon",
    what: "idle resident memory",
    measured: megabytes("Rss"),
    unit: "MB",
    ...atMost(megabytes("Rss"), goalMegabytes),
    pss: megabytes("Pss"),
    anonymous: megabytes("Anonymous"),
  });
  print({
    bench: "daemon",
    what: `idle CPU over ${idleMs / 1000} s`,
    measured: percent,
    unit: "% of a core",
    goal: goalCpuPercent,
    met: percent < goalCpuPercent,
  });
}
