/** A daemon without a free descriptor: it keeps running, callers get an error, and requested actions run later. */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { readStat } from "../../src/base/pid.ts";
import { ProjectHome } from "../harness/project.ts";
import { until } from "../harness/until.ts";

const hasPrlimit = spawnSync("prlimit", ["--version"]).status === 0;

/** Lets a process open this many more descriptors. */
async function leave(pid: number, free: number): Promise<void> {
  await until("nothing to run that gives descriptors back when it ends", () => {
    const open = new Set(readdirSync(`/proc/${pid}/fd`).map(Number));
    let limit = 0;
    for (let left = free; left > 0; limit++) if (!open.has(limit)) left--;
    execFileSync("prlimit", ["--pid", String(pid), `--nofile=${limit}:`]);
    // After the limit, under which none can be started.
    return !children(pid).some((child) => !child.includes("wait-for"));
  });
}

/** The commands of a process's children; one that waits for tmux always exists. */
function children(pid: number): string[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && readStat(Number(name))?.parent === pid);
  return pids.map((child) => readFileSync(`/proc/${child}/cmdline`, "utf8"));
}

test.runIf(hasPrlimit)(
  "[TERMINAL-7] a daemon without a free descriptor reports that and survives; requested actions run once one is free (needs prlimit)",
  async () => {
    await using home = await ProjectHome.make();
    const { id } = await home.spawn();
    const { pid } = home.daemon();
    await leave(pid, 2);
    const refused = await home.cli(["spawn", "my-app", "--agent", "demo", "--kind", "terminal"]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("too many files open");
    const killing = await home.cli(["session", "kill", id, "--no-wait"]);
    expect(killing.code).toBe(0);
    expect(home.daemon().pid).toBe(pid);
    execFileSync("prlimit", ["--pid", String(pid), "--nofile=4096:"]);
    await until("the session to end", async () => (await home.show(id)).status === "killed", 60_000);
    expect((await home.json<{ pid: number }>(["info"])).pid).toBe(pid);
  },
  120_000,
);

test.runIf(hasPrlimit)(
  "[TERMINAL-7] [TERMINAL-8] a daemon that had no descriptor to load a module reports that, and loads it at the next request (needs prlimit)",
  async () => {
    await using home = await ProjectHome.make();
    // A fresh daemon has not loaded the worktree code yet.
    await home.ok(["restart"]);
    // It listens on [::1] right after it reports ready: once it answers, that is done.
    await home.ok(["info"]);
    const { pid } = home.daemon();
    await leave(pid, 1);
    const refused = await home.cli(["spawn", "my-app", "--agent", "demo", "--kind", "terminal"]);
    execFileSync("prlimit", ["--pid", String(pid), "--nofile=4096:"]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("too many files open");
    const { id } = await home.spawn();
    expect((await home.show(id)).status).not.toBe("failed");
    expect(home.daemon().pid).toBe(pid);
  },
  120_000,
);
