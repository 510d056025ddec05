/** Processes that hide from their agent: own session, two forks, a cleared environment. */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { openCgroups } from "../../src/base/cgroup.ts";
import type { FindingJson } from "../../src/contract/daemon.ts";
import { ChatHome } from "../harness/chat.ts";
import { isRunning } from "../harness/marked.ts";
import { ProjectHome } from "../harness/project.ts";
import { until } from "../harness/until.ts";

/** Containers and ordinary users without a delegated cgroup have none. */
const { state } = openCgroups("holdfast-0");
const hasCgroups = state.is === "ok";
const runsAway = join(import.meta.dirname, "../agents/runs-away.sh");
const bin = join(import.meta.dirname, "../../bin/holdfast");

async function pidIn(file: string): Promise<number> {
  await until("the runaway", () => existsSync(file));
  return Number(readFileSync(file, "utf8"));
}

/** Names of the cgroups of a home's launches; the home's own is removed with the last of them. */
function cgroupsOf(home: ProjectHome): string[] {
  const directory = state.is === "ok" ? join(dirname(state.directory), home.paths.tmuxSocket) : "";
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
}

/** A home with a terminal agent `away` that runs a command after it has started a runaway. */
async function terminalHome(...command: string[]): Promise<{ home: ProjectHome; file: string }> {
  const home = await ProjectHome.make();
  const file = join(home.directory, "runaway");
  const argv = JSON.stringify([runsAway, file, ...command]);
  const config = `agents:\n  away:\n    terminal:\n      command: ${argv}\nprojects:\n  my-app:\n    path: .\n    prefix: ma\n`;
  writeFileSync(join(home.repo, "holdfast.yaml"), config);
  await home.ok(["project", "add", home.repo]);
  return { home, file };
}

test.runIf(hasCgroups)(
  "[TERMINAL-4] a terminal agent's runaway is gone after kill, also by the next daemon (needs cgroups)",
  async () => {
    for (const next of [false, true]) {
      const { home: made, file } = await terminalHome("sleep", "600");
      await using home = made;
      const { id } = await home.json(["spawn", "my-app", "--agent", "away", "--kind", "terminal"]);
      const pid = await pidIn(file);
      expect(cgroupsOf(home)).toHaveLength(1);
      if (next) await home.crash();
      await home.ok(["start"]);
      expect(isRunning(pid)).toBe(true);
      expect(await home.ok(["session", "kill", id])).toContain(`Session ${id} killed.`);
      expect(isRunning(pid)).toBe(false);
      expect(cgroupsOf(home)).toEqual([]);
    }
  },
);

test.runIf(hasCgroups)(
  "[TERMINAL-4] a chat agent's runaway is gone after kill, also by the next daemon (needs cgroups)",
  async () => {
    for (const next of [false, true]) {
      await using home = new ChatHome();
      const file = join(home.directory, "runaway");
      await home.begin({ away: { program: "runs-away", env: { RUNAWAY_FILE: file } } });
      const id = await home.chat("go", "away");
      const pid = await pidIn(file);
      await home.ended(id);
      if (next) await home.crash();
      await home.ok(["start"]);
      expect(isRunning(pid)).toBe(true);
      expect(await home.ok(["session", "kill", id])).toContain(`Session ${id} killed.`);
      expect(isRunning(pid)).toBe(false);
      expect(cgroupsOf(home)).toEqual([]);
    }
  },
);

test.runIf(hasCgroups)(
  "[TERMINAL-4] a process that hides from an agent that exits on its own is killed too (needs cgroups)",
  async () => {
    // It exits only once it is up: an exit during the start is a failed start.
    const { home: made, file } = await terminalHome("sh", "-c", "until test -e go; do sleep 0.1; done");
    await using home = made;
    const { id, workspacePath } = await home.json(["spawn", "my-app", "--agent", "away", "--kind", "terminal"]);
    const pid = await pidIn(file);
    expect(isRunning(pid)).toBe(true);
    writeFileSync(join(workspacePath, "go"), "");
    await home.status(id, "exited");
    await until("the runaway to end", () => !isRunning(pid));
  },
);

test.runIf(hasCgroups)(
  "[TERMINAL-4, DAEMON-8] a daemon that an agent starts is not part of that agent (needs cgroups)",
  async () => {
    await using other = await ProjectHome.make();
    await other.ok(["stop"]);
    const { home: made, file } = await terminalHome(
      "env",
      `HOLDFAST_HOME=${other.home}`,
      "sh",
      "-c",
      `${bin} start; exec sleep 600`,
    );
    await using home = made;
    const { id } = await home.json(["spawn", "my-app", "--agent", "away", "--kind", "terminal"]);
    await pidIn(file);
    const { pid } = await until("the other daemon", () => other.daemon());
    await home.ok(["session", "kill", id]);
    expect(isRunning(pid)).toBe(true);
    expect((await other.json<{ pid: number }>(["info"])).pid).toBe(pid);
  },
);

test("[TERMINAL-4] doctor reports whether a stop reaches every process", async () => {
  await using home = await ProjectHome.make();
  const findings = await home.cli(["doctor", "--json"]);
  const found = (JSON.parse(findings.stdout) as FindingJson[]).find(({ check }) => check === "agents' ends");
  expect(found?.level).toBe(hasCgroups ? "ok" : "warn");
  expect(found?.fix === null).toBe(hasCgroups);
});

test.runIf(hasCgroups)(
  "[TERMINAL-5] a daemon inside a unit that would kill its agents creates no cgroups there (needs cgroups)",
  async () => {
    const unit = `hf-${randomBytes(6).toString("hex")}.service`;
    const cgroup = join(state.is === "ok" ? dirname(state.directory) : "", unit);
    mkdirSync(cgroup);
    try {
      await using home = await ProjectHome.make();
      await home.ok(["stop"]);
      const start = 'echo 0 >"$0/cgroup.procs" && exec "$@"';
      expect(await home.run("sh", ["-c", start, cgroup, bin, "start"])).toMatchObject({ code: 0 });
      expect(readFileSync(join(cgroup, "cgroup.procs"), "utf8")).toContain(String(home.daemon().pid));
      const findings = JSON.parse((await home.cli(["doctor", "--json"])).stdout) as FindingJson[];
      expect(findings.find(({ check }) => check === "agents' ends")).toMatchObject({
        level: "warn",
        message: expect.stringContaining(`the daemon runs inside ${unit}`) as string,
      });
      expect(existsSync(join(cgroup, home.paths.tmuxSocket))).toBe(false);
      await home.ok(["stop"]);
    } finally {
      await until("the unit to be empty", () => readFileSync(join(cgroup, "cgroup.procs"), "utf8") === "");
      rmdirSync(cgroup);
    }
  },
);
