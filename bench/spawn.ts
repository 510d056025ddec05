/**
 * A spawn through the API against the same by hand (`git worktree add` and `tmux new-session`, two processes), in
 * turns; then with a spare worktree ready, by the CLI, and the kill that moves the worktree to the trash. Repositories of
 * 100 and of 10,000 files. Own homes and tmux servers, removed afterwards. About a minute.
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { EventJson } from "../src/contract/stream.ts";
import { atMost, print, ratio, summarise } from "./lib/figure.ts";
import { launcher, makeHome, type BenchHome } from "./lib/home.ts";
import { ask, startDaemon, stopwatch } from "./lib/processes.ts";
import { addProject, haltAll, killSession, makeRepository, spawnSession, type BenchProject } from "./lib/project.ts";

const sizes = [
  { files: 100, rounds: 21 },
  { files: 10_000, rounds: 7 },
];
const spareRounds = 7;
const cliRounds = 11;
const goalSpawn = 1.3;
const goalSpareMs = 100;
const goalRemovalMs = 20;
const spareDeadlineMs = 60_000;
/** A kill still cleans up after its response; the next round would pay for it. */
const settleMs = 200;
/** The check that must come before the move: uncommitted work is counted and pinned first. */
const status = ["--no-optional-locks", "status", "--porcelain=v2", "--untracked-files=all", "--no-renames"];

const { by, time } = stopwatch();
await countProcesses();
for (const { files, rounds } of sizes) {
  const home = await makeHome(0);
  const bareSocket = `hf-bench-${randomBytes(6).toString("hex")}`;
  try {
    await using daemon = await startDaemon(home);
    const repository = makeRepository(home, "app", files);
    try {
      const project = await addProject(home, repository, 0);
      // A tmux server with a session on both sides, because starting a server is not an everyday cost.
      await bareTmux(home, bareSocket, ["new-session", "-d", "-s", "keep", "sleep", "100000"]);
      await spawnSession(home, project);
      await measureSpawn({ home, project, bareSocket, files, rounds, daemon: daemon.pid });
      if (files === 100) await measureCli(home, project);
      else await measureSpare(home, repository, files);
    } finally {
      await bareTmux(home, bareSocket, ["kill-server"]);
      rmSync(join("/tmp", `tmux-${process.getuid?.() ?? 0}`, bareSocket), { force: true });
      await haltAll(home);
    }
  } finally {
    home.remove();
  }
}

/**
 * How many programs the daemon starts, a figure that does not depend on the machine's load: counted by scripts before
 * git and tmux on its PATH. Programs that git itself starts are not counted on either side.
 */
async function countProcesses(): Promise<void> {
  const home = await makeHome(0);
  const bin = join(dirname(home.paths.home), "bin");
  const log = join(bin, "started");
  mkdirSync(bin);
  for (const name of ["git", "tmux"]) {
    const script = `#!/bin/sh\necho ${name} >>'${log}'\nPATH=\${PATH#*:}\nexec ${name} "$@"\n`;
    writeFileSync(join(bin, name), script);
    chmodSync(join(bin, name), 0o755);
  }
  const counted = async (work: () => Promise<unknown>): Promise<{ git: number; tmux: number; measured: number }> => {
    await delay(settleMs);
    writeFileSync(log, "");
    await work();
    const started = readFileSync(log, "utf8").trim().split("\n");
    const [git, tmux] = ["git", "tmux"].map((name) => started.filter((line) => line === name).length);
    return { git: git ?? 0, tmux: tmux ?? 0, measured: (git ?? 0) + (tmux ?? 0) };
  };
  try {
    const watched = { ...home, env: { ...home.env, PATH: `${bin}:${home.env["PATH"] ?? ""}` } };
    await using _daemon = await startDaemon(watched);
    const repository = makeRepository(home, "app", 100);
    try {
      const plain = await addProject(home, repository, 0);
      await spawnSession(home, plain);
      let id = "";
      const spawned = await counted(async () => ({ id } = await spawnSession(home, plain)));
      const killed = await counted(() => killSession(home, id));
      const spare = await addProject(home, repository, 1);
      await spawnSession(home, spare);
      await spareReady(repository);
      const claimed = await counted(() => spawnSession(home, spare));
      await spareReady(repository);
      const figures = { "started for a spawn": spawned, "for one from a spare": claimed, "for a kill": killed };
      for (const [what, count] of Object.entries(figures)) {
        print({ bench: "spawn", what: `git and tmux ${what}`, unit: "processes", ...count });
      }
    } finally {
      await haltAll(home);
    }
  } finally {
    home.remove();
  }
}

interface Spawning {
  home: BenchHome;
  project: BenchProject;
  bareSocket: string;
  files: number;
  rounds: number;
  daemon: number;
}

async function measureSpawn({ home, project, bareSocket, files, rounds }: Spawning): Promise<void> {
  const floor: number[] = [];
  const ours: number[] = [];
  const kills: number[] = [];
  const removals: number[] = [];
  const statuses: number[] = [];
  const { repository } = project;
  for (let round = 0; round <= rounds; round++) {
    const name = `bare-${round}`;
    const path = join(dirname(repository), name);
    const byHand = async (): Promise<number> =>
      timed(async () => {
        await run(home, "git", ["worktree", "add", "--quiet", "-b", name, path, "main"], repository);
        await bareTmux(home, bareSocket, ["new-session", "-d", "-s", name, "-c", path, "sleep", "100000"]);
      });
    await delay(settleMs);
    let id = "";
    const byDaemon = async (): Promise<number> =>
      timed(async () => {
        ({ id } = await spawnSession(home, project));
      });
    // The order alternates, so that neither always benefits from the other's caches.
    const bare = round % 2 === 0 ? await byHand() : NaN;
    const measured = await byDaemon();
    const floorMs = round % 2 === 0 ? bare : await byHand();
    const looked = await timed(() => run(home, "git", status, path));
    const kill = await timed(() => killSession(home, id));
    const removal = await removalMs(home, id);
    // The files stay until the end: ext4 passes over freshly deleted inodes one by one, and the next checkout would pay.
    await bareTmux(home, bareSocket, ["kill-session", "-t", `=${name}`]);
    // The first round loads the daemon's lazy modules.
    if (round === 0) continue;
    floor.push(floorMs);
    ours.push(measured);
    kills.push(kill);
    removals.push(removal);
    statuses.push(looked);
  }
  const { median, min, max } = ratio(ours, floor);
  print({
    bench: "spawn",
    what: `by the API, ${files} files`,
    measured: median,
    unit: "x by hand",
    ...atMost(median, goalSpawn),
    spread: [min, max],
    ms: summarise(ours),
    byHandMs: summarise(floor),
    rounds,
  });
  const moving = summarise(removals.map((ms, round) => ms - (statuses[round] ?? NaN)));
  print({
    bench: "spawn",
    what: `removal beyond one git status, ${files} files`,
    measured: moving.median,
    unit: "ms",
    ...atMost(moving.median, goalRemovalMs),
    ms: moving,
    wholeMs: summarise(removals),
    statusMs: summarise(statuses),
    rounds,
  });
  const kill = summarise(kills);
  print({ bench: "spawn", what: `full kill, ${files} files`, measured: kill.median, unit: "ms", ms: kill, rounds });
}

/** From the recorded stop of the processes to the recorded move of the worktree. */
async function removalMs(home: BenchHome, id: string): Promise<number> {
  const events = JSON.parse(await ask(home.paths.socket, `/api/sessions/${id}/events`)) as EventJson[];
  const at = (type: string): number => Date.parse(events.findLast((event) => event.type === type)?.at ?? "");
  return at("workspace.trashed") - at("run.ended");
}

async function measureSpare(home: BenchHome, repository: string, files: number): Promise<void> {
  const project = await addProject(home, repository, 1);
  const ours: number[] = [];
  const byCli: number[] = [];
  for (let round = 0; round <= spareRounds; round++) {
    if (round > 0) await spareReady(repository);
    const measured = await timed(() => spawnSession(home, project));
    if (round > 0) ours.push(measured);
  }
  for (let round = 0; round < spareRounds; round++) {
    await spareReady(repository);
    byCli.push(time([launcher, "spawn", project.id, "--json"], home.env).ms);
  }
  await spareReady(repository);
  const { median } = summarise(ours);
  print({
    bench: "spawn",
    what: `from a spare, ${files} files`,
    measured: median,
    unit: "ms",
    ...atMost(median, goalSpareMs),
    ms: summarise(ours),
    rounds: spareRounds,
  });
  const cli = summarise(byCli);
  print({
    bench: "spawn",
    what: `holdfast spawn, spare, ${files} files`,
    measured: cli.median,
    unit: "ms",
    ms: cli,
    by,
  });
}

async function measureCli(home: BenchHome, project: BenchProject): Promise<void> {
  const byCli: number[] = [];
  const node: number[] = [];
  for (let round = 0; round <= cliRounds; round++) {
    const empty = time([process.execPath, "-e", "0"], home.env).ms;
    const measured = time([launcher, "spawn", project.id, "--json"], home.env).ms;
    if (round === 0) continue;
    node.push(empty);
    byCli.push(measured);
  }
  const { median } = summarise(byCli);
  const more = { ms: summarise(byCli), nodeMs: summarise(node), by, rounds: cliRounds };
  print({ bench: "spawn", what: "holdfast spawn, 100 files", measured: median, unit: "ms", ...more });
}

/** Waits until git's own directory for the spare contains the note that it is complete. */
async function spareReady(repository: string): Promise<void> {
  const registered = join(repository, ".git/worktrees");
  const until = performance.now() + spareDeadlineMs;
  const isSpare = (name: string): boolean => {
    const file = join(registered, name, "holdfast.json");
    return existsSync(file) && readFileSync(file, "utf8").includes('"spare"');
  };
  while (!readdirSync(registered).some(isSpare)) {
    if (performance.now() > until) throw new Error(`no spare worktree after ${spareDeadlineMs} ms`);
    await delay(10);
  }
  // Its preparation is done; the daemon's last writes may not be.
  await delay(50);
}

function bareTmux(home: BenchHome, socket: string, args: string[]): Promise<void> {
  return run(home, "tmux", ["-L", socket, "-f", "/dev/null", ...args], "/");
}

function run(home: BenchHome, command: string, args: string[], cwd: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env: home.env, stdio: "ignore" });
    child.on("error", reject).on("close", (code) => {
      if (code === 0) resolve();
      else reject(new Error(`${command} ${args.join(" ")} ended with ${code ?? "a signal"}`));
    });
  });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
