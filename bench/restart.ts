/**
 * A daemon that adopts 100 live sessions: start until it reports ready, which it does once every session was observed,
 * against an empty Node process, in turns; its list must then show all of them alive with their previous process
 * (`listedMs` is the time until then). Before that, `session ls` with 50 live sessions against `node -e 0`. Real tmux
 * sessions with `sleep` as the agent, own home and tmux server, all stopped afterwards. About half a minute.
 */
import { spawnSync } from "node:child_process";
import type { SessionJson } from "../src/contract/session.ts";
import { atMost, print, ratio, summarise } from "./lib/figure.ts";
import { launcher, makeHome, type BenchHome } from "./lib/home.ts";
import { startDaemon, startEmptyNode, stopwatch, type Elapsed } from "./lib/processes.ts";
import { addProject, haltAll, makeRepository, spawnSession, type BenchProject } from "./lib/project.ts";

const listed = 50;
const adopted = 100;
const listRounds = 21;
const startRounds = 15;
const goalList = 1.7;
const goalStart = 3.5;
/** As many as the daemon starts concurrently. */
const spawnsAtOnce = 4;

const home = await makeHome(0);
try {
  const repository = makeRepository(home, "app", 10);
  try {
    {
      await using _daemon = await startDaemon(home);
      const project = await addProject(home, repository, 0);
      await spawnMany(project, listed);
      await measureList(home);
      await spawnMany(project, adopted - listed);
    }
    await measureStart(home);
  } finally {
    await using _last = await startDaemon(home);
    await haltAll(home);
  }
} finally {
  home.remove();
}

async function spawnMany(project: BenchProject, count: number): Promise<void> {
  let left = count;
  const worker = async (): Promise<void> => {
    while (left-- > 0) await spawnSession(home, project);
  };
  await Promise.all(Array.from({ length: spawnsAtOnce }, worker));
}

async function measureList(home: BenchHome): Promise<void> {
  const { by, time } = stopwatch();
  const floor = "node -e 0";
  const programs: Record<string, string[]> = {
    [floor]: [process.execPath, "-e", "0"],
    "session ls": [launcher, "session", "ls"],
    "session ls --json": [launcher, "session", "ls", "--json"],
  };
  const check = spawnSync(launcher, ["session", "ls", "--json"], { env: home.env, encoding: "utf8" });
  if (alive(check.stdout).size !== listed) throw new Error(`not ${listed} live sessions: ${check.stderr}`);
  const times: Record<string, Elapsed[]> = {};
  for (let round = 0; round <= listRounds; round++) {
    for (const [what, argv] of Object.entries(programs)) {
      const elapsed = time(argv, home.env);
      if (round > 0) (times[what] ??= []).push(elapsed);
    }
  }
  const wall = (what: string): number[] => (times[what] ?? []).map(({ ms }) => ms);
  const cpu = (what: string): number[] => (times[what] ?? []).flatMap(({ cpuMs }) => cpuMs ?? []);
  for (const what of Object.keys(programs).slice(1)) {
    const { median, min, max } = ratio(wall(what), wall(floor));
    print({
      bench: "restart",
      what: `${what}, ${listed} live`,
      measured: median,
      unit: `x ${floor}`,
      ...atMost(median, goalList),
      spread: [min, max],
      cpuRatio: ratio(cpu(what), cpu(floor)).median,
      ms: summarise(wall(what)),
      floorMs: summarise(wall(floor)),
      by,
      rounds: listRounds,
    });
  }
}

async function measureStart(home: BenchHome): Promise<void> {
  const empty: number[] = [];
  const all: number[] = [];
  const ready: number[] = [];
  let before: Map<string, number> | null = null;
  const check = (answer: string): void => {
    const found = alive(answer);
    if (found.size !== adopted) throw new Error(`only ${found.size} of ${adopted} sessions were adopted`);
    for (const [id, pid] of before ?? found) {
      if (found.get(id) !== pid) throw new Error(`${id} is another process than before`);
    }
    before = found;
  };
  // The first round warms the caches; it does not count.
  for (let round = 0; round <= startRounds; round++) {
    const floor = await once(startEmptyNode);
    const daemon = await once(() => startDaemon(home, "/api/sessions", check));
    if (round === 0) continue;
    empty.push(floor.readyMs);
    all.push(daemon.answeredMs);
    ready.push(daemon.readyMs);
  }
  const { median, min, max } = ratio(ready, empty);
  print({
    bench: "restart",
    what: `start to all adopted, ${adopted} live`,
    measured: median,
    unit: "x empty node",
    ...atMost(median, goalStart),
    spread: [min, max],
    rounds: startRounds,
    emptyMs: summarise(empty),
    readyMs: summarise(ready),
    listedMs: summarise(all),
  });
}

async function once(start: () => ReturnType<typeof startEmptyNode>): Promise<{ readyMs: number; answeredMs: number }> {
  await using running = await start();
  return { readyMs: running.readyMs, answeredMs: running.answeredMs };
}

/** The pids of the agents that are observed alive. */
function alive(json: string): Map<string, number> {
  const sessions = JSON.parse(json) as SessionJson[];
  return new Map(
    sessions.flatMap(({ id, processes }) => {
      const agent = processes.find(({ what }) => what === "agent");
      return agent === undefined ? [] : [[id, agent.pid] as const];
    }),
  );
}
