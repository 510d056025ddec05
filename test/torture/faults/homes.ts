/** Homes that were copied, restored from a backup, or lost files under a running daemon. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { isRunning } from "../../harness/marked.ts";
import { until } from "../../harness/until.ts";
import { checkWork } from "../audit.ts";
import type { Run, Scenario } from "../report.ts";
import { World } from "../world.ts";

interface Living {
  id: string;
  pid: number;
}

/** One session of each kind, with recorded work. */
async function twoKinds(world: World): Promise<Living[]> {
  const ids = [await world.start("terminal"), await world.start("chat")];
  await until("their work to be noted", () => ids.every((id) => world.ledger.of(id, "work").length > 0));
  return Promise.all(ids.map(async (id) => ({ id, pid: (await world.agent(id)).pid })));
}

function stillAlive(run: Run, living: Living[], when: string): void {
  for (const { id, pid } of living) run.check(isRunning(pid), "ended", `the agent of ${id} was ended ${when}`);
}

/** Long enough for a daemon to reconcile and to stop supposed leftovers. */
const reconcileMs = 4_000;

export const copiedHome: Scenario = {
  name: "copied-home",
  group: "fault",
  promise: "starting a copy of a home leaves the original's agents and worktrees alone",
  run: async (run) => {
    await using world = await World.open();
    const living = await twoKinds(world);
    const copy = `${world.home}2`;
    execFileSync("cp", ["-a", world.home, copy]);
    const env = { HOLDFAST_HOME: copy };
    try {
      const started = await world.cli(["start"], { env });
      run.check(started.code === 1, "untrue", `start of a copied home exited ${started.code}`);
      for (const option of ["--moved", "--copied"])
        run.check(
          started.stderr.includes(option),
          "untrue",
          `start of a copied home does not name ${option}: ${started.stderr.trim().slice(0, 200)}`,
        );
      await delay(reconcileMs);
      stillAlive(run, living, "by the start of a copy");
      const killed = await world.cli(["session", "kill", living[1]!.id], { env, timeoutMs: 90_000 });
      stillAlive(run, living, `by a kill in the copy (exit ${killed.code})`);
      const copied = await world.cli(["start", "--copied"], { env, timeoutMs: 90_000 });
      run.check(
        copied.code === 0,
        "untrue",
        `start --copied exited ${copied.code}: ${copied.stderr.trim().slice(0, 200)}`,
      );
      await delay(reconcileMs);
      stillAlive(run, living, "by start --copied");
      await checkWork(run, world);
    } finally {
      await world.cli(["stop", "--halt-sessions", "--yes"], { env, timeoutMs: 90_000 }).catch(() => undefined);
      await endHome(world, copy);
    }
  },
};

export const movedHome: Scenario = {
  name: "moved-home",
  group: "fault",
  promise: "a home that was moved starts with --moved and keeps its record and its worktrees",
  run: async (run) => {
    await using world = await World.open();
    const [terminal] = await twoKinds(world);
    await world.ok(["stop", "--halt-sessions", "--yes"]);
    const moved = `${world.home}-moved`;
    renameSync(world.home, moved);
    const env = { HOLDFAST_HOME: moved };
    try {
      const started = await world.cli(["start", "--moved"], { env, timeoutMs: 90_000 });
      run.check(
        started.code === 0,
        "untrue",
        `start --moved exited ${started.code}: ${started.stderr.trim().slice(0, 200)}`,
      );
      const listed = await world.cli(["session", "show", terminal!.id, "--json"], { env });
      run.check(listed.code === 0, "lost", `${terminal!.id} is unknown in the moved home: ${listed.stderr.trim()}`);
      const kept = /"workspace": ?"ready"/.test(listed.stdout);
      run.check(kept, "lost", `${terminal!.id} has no worktree in the moved home`);
      // Through the link at the old path.
      await checkWork(run, world);
    } finally {
      await world.cli(["stop", "--halt-sessions", "--yes"], { env, timeoutMs: 90_000 }).catch(() => undefined);
      await endHome(world, moved);
    }
  },
};

/** Stops what is left of a second home by its marker and removes it with its tmux socket. */
async function endHome(world: World, home: string): Promise<void> {
  const { endMarked, markedProcesses } = await import("../../harness/marked.ts");
  const { resolvePaths } = await import("../../../src/base/paths.ts");
  await endMarked(markedProcesses(`HOLDFAST_HOME=${home}`));
  const socket = `/tmp/tmux-${process.getuid?.() ?? 0}/${resolvePaths({ ...world.env, HOLDFAST_HOME: home }).tmuxSocket}`;
  for (const path of [home, socket, `${socket}.lock`]) rmSync(path, { recursive: true, force: true });
}

export const oldDatabase: Scenario = {
  name: "old-database",
  group: "fault",
  promise: "an older copy of the database ends no living agent and gives no id out twice",
  run: (run) => withDatabase(run, "old copy"),
};

export const lostWal: Scenario = {
  name: "lost-wal",
  group: "fault",
  promise: "a deleted write-ahead log ends no living agent and gives no id out twice",
  run: (run) => withDatabase(run, "no log"),
};

async function withDatabase(run: Run, how: "old copy" | "no log"): Promise<void> {
  await using world = await World.open();
  const earlier = await twoKinds(world);
  const parts = ["", "-wal", "-shm"];
  const backup = `${world.directory}/backup`;
  if (how === "old copy") {
    await world.ok(["stop"]);
    mkdirSync(backup);
    for (const part of parts)
      if (existsSync(world.paths.database + part)) cpSync(world.paths.database + part, `${backup}/db${part}`);
    await world.calm();
  }
  // Launches that the older record does not name, of sessions that it knows.
  if (how === "old copy")
    for (const { id } of earlier)
      for (const verb of ["stop", "restore"] as const) await world.call(verb, id, { body: {} });
  const again = await Promise.all(earlier.map(async ({ id }) => ({ id, pid: (await world.agent(id)).pid })));
  const later = await twoKinds(world);
  const living = how === "old copy" ? [...again, ...later] : later;
  await world.crash();
  run.count("kills");
  for (const part of how === "old copy" ? parts : ["-wal", "-shm"])
    rmSync(world.paths.database + part, { force: true });
  if (how === "old copy")
    for (const part of parts)
      if (existsSync(`${backup}/db${part}`)) cpSync(`${backup}/db${part}`, world.paths.database + part);
  const started = await world.cli(["start"], { timeoutMs: 90_000 });
  run.check(started.code === 0, "untrue", `start with ${how}: ${started.stderr.trim()}`);
  await delay(reconcileMs);
  stillAlive(run, living, `by a start with ${how}`);
  // With a lost log even the project may be unknown.
  await world.cli(["project", "add", world.repo]);
  for (const kind of ["terminal", "chat", "terminal", "chat"]) {
    const spawned = await world.cli(["spawn", "my-app", "--kind", kind, "--json"], { timeoutMs: 90_000 });
    run.count("verbs");
    if (!run.check(spawned.code === 0, "untrue", `spawn with ${how}: ${spawned.stderr.trim().slice(0, 300)}`)) continue;
    const { id } = JSON.parse(spawned.stdout) as { id: string };
    run.check(!later.some((one) => one.id === id), "doubled", `${id} was given out again beside its living agent`);
  }
  stillAlive(run, living, `by a spawn with ${how}`);
  await checkWork(run, world);
  // The record does not know them: the driver must stop them, with their panes.
  const { endMarked } = await import("../../harness/marked.ts");
  const tmux = (...args: string[]): string =>
    execFileSync("tmux", ["-L", world.paths.tmuxSocket, ...args], { encoding: "utf8" });
  const panes = tmux("list-panes", "-a", "-F", "#{pane_pid} #{session_id}").trim().split("\n");
  const known = new Set((await world.call("sessions")).map(({ id }) => id));
  const unknown = [...world.census()].flatMap(([session, processes]) => (known.has(session) ? [] : processes));
  await endMarked(unknown);
  for (const [pid, name] of panes.map((line) => line.split(" ")))
    if (unknown.some((one) => String(one.pid) === pid)) tmux("kill-session", "-t", name!);
}

export const lostFiles: Scenario = {
  name: "lost-files",
  group: "fault",
  promise: "a removed daemon.json or socket neither hides the running daemon nor costs an agent",
  run: async (run) => {
    await using world = await World.open();
    const living = await twoKinds(world);
    const { pid } = world.daemon();
    rmSync(world.paths.daemonFile);
    const info = await world.cli(["info", "--json"]);
    run.check(!/"state": ?"stopped"/.test(info.stdout), "untrue", "info reports a running daemon as stopped");
    const listed = await world.cli(["session", "ls"], { timeoutMs: 150_000 });
    run.check(listed.code === 0, "untrue", `session ls without daemon.json: ${listed.stderr.trim().slice(0, 200)}`);
    const stopped = await world.cli(["stop"], { timeoutMs: 60_000 });
    const gone = await until("the daemon to exit", () => !isRunning(pid), 60_000).catch(() => false);
    run.check(
      gone,
      "untrue",
      `stop without daemon.json printed "${(stopped.stdout + stopped.stderr).trim().slice(0, 120)}", and the daemon still runs`,
    );
    if (!gone) await world.killDaemons();
    await world.calm();
    stillAlive(run, living, "by a removed daemon.json");
    rmSync(world.paths.socket);
    const asked = await world.cli(["session", "ls"], { timeoutMs: 150_000 });
    if (asked.code !== 0) {
      run.check(
        /holdfast (restart|start)/.test(asked.stderr),
        "untrue",
        `a removed socket: the error has no next step: ${asked.stderr.trim().slice(0, 200)}`,
      );
      const restarted = await world.cli(["restart"], { timeoutMs: 90_000 });
      run.check(
        restarted.code === 0,
        "untrue",
        `restart after a removed socket: ${restarted.stderr.trim().slice(0, 200)}`,
      );
    }
    const after = await world.cli(["session", "ls"]);
    run.check(after.code === 0, "untrue", `session ls after a removed socket: ${after.stderr.trim().slice(0, 200)}`);
    stillAlive(run, living, "by a removed socket");
  },
};
