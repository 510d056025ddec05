/** Faults of the machine: no descriptors, no space, a disk that dies, a log that cannot be rotated. */
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { endMarked, isRunning, markedProcesses } from "../../harness/marked.ts";
import { FailingDisk, SmallDisk, canFail, canMount } from "../../harness/small-disk.ts";
import { until } from "../../harness/until.ts";
import { checkWork } from "../audit.ts";
import type { Scenario } from "../report.ts";
import { World } from "../world.ts";

export const emfile: Scenario = {
  name: "emfile",
  group: "fault",
  promise: "a daemon without free descriptors answers with an error and lives on",
  run: async (run) => {
    await using world = await World.open();
    const chat = await world.start("chat");
    const agent = await world.agent(chat);
    const { pid } = world.daemon();
    const limit = (descriptors: number): void =>
      void execFileSync("prlimit", ["--pid", String(pid), `--nofile=${descriptors}:`]);
    for (let spare = 1; spare <= 14 && isRunning(pid); spare++) {
      // Requests that need git, the worktree and a new agent; each may be refused, none may crash the daemon.
      limit(readdirSync(`/proc/${pid}/fd`).length + spare);
      const asked = [
        world.call("changes", chat),
        world.call("work", chat),
        world.call("spawn", "", { body: { project: "my-app", wait: false } }),
      ];
      await Promise.race([Promise.allSettled(asked), delay(4_000)]);
      run.count("verbs", asked.length);
      if (isRunning(pid)) limit(1024);
      await Promise.allSettled(asked);
    }
    run.check(isRunning(pid), "ended", "the daemon exited when it had no descriptors left");
    await world.calm();
    run.check((await world.agent(chat)).pid === agent.pid, "ended", "the chat agent was replaced");
    const spawned = await world.cli(["spawn", "my-app", "--kind", "chat", "--json"], { timeoutMs: 90_000 });
    run.check(spawned.code === 0, "untrue", `spawn with descriptors again: ${spawned.stderr.trim().slice(0, 200)}`);
  },
};

/** Bytes at which the log is rotated; see src/base/log-file.ts. */
const rotationBytes = 5 * 1024 * 1024;

export const logRotation: Scenario = {
  name: "log-rotation",
  group: "fault",
  promise: "a log that cannot be rotated costs no verb, and the log comes back without a restart",
  run: async (run) => {
    await using world = await World.open();
    await world.ok(["stop"]);
    const [log] = readdirSync(world.paths.logs).filter((name) => name.endsWith(".log"));
    const path = join(world.paths.logs, log!);
    const line = `${JSON.stringify({ at: new Date(0).toISOString(), level: "info", message: "x".repeat(900) })}\n`;
    appendFileSync(path, line.repeat(Math.floor((rotationBytes - statSync(path).size - 1_000) / line.length)));
    await world.calm();
    const { pid } = world.daemon();
    renameSync(world.paths.logs, `${world.paths.logs}.away`);
    writeFileSync(world.paths.logs, "in the way\n");
    for (let n = 0; n < 6; n++) {
      const asked = await world.call("spawn", "", { body: { project: "my-app", kind: "chat" } }).then(
        (session) =>
          session.status === "failed" || session.status === "starting" ? `${session.status}: ${session.reason}` : "",
        (error: unknown) => String(error),
      );
      run.count("verbs");
      run.check(asked === "", "untrue", `spawn while the log cannot be rotated: ${asked.slice(0, 200)}`);
      const problem = await noise(world).then(() => "", String);
      if (!run.check(problem === "", "ended", `the daemon while the log cannot be rotated: ${problem}`)) break;
    }
    rmSync(world.paths.logs);
    rmSync(`${world.paths.logs}.away`, { recursive: true });
    mkdirSync(world.paths.logs, { mode: 0o700 });
    const back = await until(
      "the log to come back",
      async () => {
        await noise(world);
        return readdirSync(world.paths.logs).some((name) => statSync(join(world.paths.logs, name)).size > 0);
      },
      30_000,
    ).catch(() => false);
    run.check(isRunning(pid), "ended", "the daemon exited");
    run.check(back, "lost", "there is no log until the daemon is restarted");
  },
};

/** Makes the daemon log: it rewrites and watches the file again before it answers the next request. */
async function noise(world: World): Promise<void> {
  rmSync(world.paths.daemonFile);
  await until("the daemon file to come back", () => existsSync(world.paths.daemonFile), 90_000);
  await world.call("health");
}

export const fullDisk: Scenario = {
  name: "full-disk",
  group: "fault",
  namespace: "user",
  promise: "on a full disk nothing is lost, a kill is still recorded, and everything continues with room again",
  needs: () => (canMount() ? null : "mounting is not allowed here"),
  run: async (run) => {
    const world = new World();
    await using _ = world;
    using disk = new SmallDisk(world.home);
    await world.begin();
    const [chat, doomed] = [await world.start("chat"), await world.start("terminal")];
    await world.call("prompt", chat, {
      body: { promptId: "p1", text: "p1 chunks:400 every:10 stop:refusal", waitMs: 0 },
    });
    run.count("prompts");
    await until("chunks", () => world.ledger.of(chat, "chunk").length > 20);
    disk.fill();
    const killed = await world.cli(["session", "kill", doomed], { timeoutMs: 90_000 });
    run.check(killed.code === 0, "untrue", `kill on a full disk: ${killed.stderr.trim().slice(0, 200)}`);
    await world.crash().catch(() => undefined);
    run.count("kills");
    disk.free();
    await world.calm();
    await until("the turn to end", async () => (await world.show(chat)).status === "idle", 90_000).catch(
      (error: unknown) => run.bad("untrue", String(error)),
    );
    const events = await world.events(chat);
    const said = events
      .filter(({ type }) => type === "agent.text")
      .map((event) => String(event["text"]))
      .join("");
    const emitted = world.ledger
      .of(chat, "chunk")
      .map(({ value }) => value ?? "")
      .join("");
    run.count("chunks", world.ledger.of(chat, "chunk").length);
    run.check(said === emitted, "lost", "the record differs from what the agent emitted on a full disk");
    const final = await world.show(doomed);
    run.check(
      final.intent.want === "killed",
      "untrue",
      `the kill on a full disk is ${final.intent.want} after the restart`,
    );
    await checkWork(run, world);
    await world.ok(["stop", "--halt-sessions", "--yes"], { timeoutMs: 90_000 });
  },
};

export const diskDies: Scenario = {
  name: "disk-dies",
  group: "fault",
  namespace: "root",
  promise: "a disk that turns read-only under the daemon ends neither it nor an agent, and errors name the disk",
  needs: () => (canFail() ? null : "needs root and loop devices"),
  run: async (run) => {
    const world = new World();
    const disk = new FailingDisk(world.home);
    try {
      rmSync(join(world.home, "lost+found"), { recursive: true });
      await world.begin();
      const chat = await world.start("chat");
      const agent = await world.agent(chat);
      const { pid } = world.daemon();
      disk.fail();
      const killed = await world.cli(["session", "kill", chat], { timeoutMs: 90_000 });
      run.count("verbs");
      await delay(1_000);
      run.check(isRunning(pid), "ended", "the daemon exited at a kill on a dead disk");
      run.check(killed.code !== 0, "untrue", "a kill on a dead disk was reported as done");
      const words = killed.stderr.trim();
      run.check(
        /read-only|disk|I\/O/i.test(words) && !/without an answer|chmod/.test(words),
        "untrue",
        `a kill on a dead disk: ${words.slice(0, 200)}`,
      );
      const doctor = await world.cli(["doctor"], { timeoutMs: 90_000 });
      run.check(doctor.code !== 0, "untrue", "doctor reports ok on a dead disk");
      run.check(isRunning(agent.pid), "ended", "the agent was ended although its kill could not be recorded");
    } finally {
      await endMarked(markedProcesses(`HOLDFAST_HOME=${world.home}`));
      disk[Symbol.dispose]();
      rmSync(world.directory, { recursive: true, force: true });
      world.endTmuxServer();
    }
  },
};
