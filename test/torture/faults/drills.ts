/**
 * Fixed scenarios, each for one promise: a daemon killed at a named step, similar names, ids of deleted sessions, a reused
 * pid, a tmux server that does not answer, a spawn that fails, several daemons at the same time.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { restorePoints, trashPoints } from "../../../src/worktree/points.fixture.ts";
import { endMarked, isRunning } from "../../harness/marked.ts";
import { until } from "../../harness/until.ts";
import { audit, checkLeftovers, checkTrash, checkWork } from "../audit.ts";
import { ask } from "../clients.ts";
import type { Run, Scenario } from "../report.ts";
import { World } from "../world.ts";

/** Named steps inside each verb; see src/base/test-points.ts. */
const steps = {
  spawn: [
    "workspace.create.added",
    "workspace.create.ready",
    "workspace.created",
    "launch.recorded",
    "chat.recorded",
    "chat.spawned",
    "launch.made",
  ],
  stop: ["stop.ended"],
  restore: ["launch.recorded", "chat.spawned", "launch.made"],
  kill: ["stop.ended", ...trashPoints, "workspace.trashed"],
  revive: restorePoints,
  delete: ["stop.ended", "workspace.trash.moved", "workspace.trashed"],
} as const;
type Step = keyof typeof steps;
const verbOf = {
  spawn: "spawn",
  stop: "stop",
  restore: "restore",
  kill: "kill",
  revive: "restore",
  delete: "delete",
} as const;

export const namedSteps: Scenario = {
  name: "named-steps",
  group: "fault",
  share: 0.25,
  promise: "a daemon killed at any named step of a verb finishes it after the restart, with one agent and all bytes",
  run: async (run) => {
    await using world = await World.open({ HOLDFAST_TEST_MINUTE_MS: "1000" });
    for (const kind of ["chat", "terminal"] as const) {
      const session = await world.start(kind);
      made(world, session);
      await until("its work", () => world.ledger.of(session, "work").length > 0);
      for (const step of ["stop", "restore", "kill", "revive"] as const)
        for (const point of steps[step]) {
          if (run.timeIsUp) break;
          if (step !== "stop" && step !== "kill")
            await bring(run, world, session, step === "restore" ? "stop" : "kill");
          else await bring(run, world, session, "restore");
          await dieAt(run, world, step, point, session);
        }
      for (const point of steps.delete) {
        if (run.timeIsUp) break;
        const doomed = await world.start(kind);
        made(world, doomed);
        await dieAt(run, world, "delete", point, doomed);
      }
      for (const point of steps.spawn) {
        if (run.timeIsUp) break;
        const before = new Set((await world.call("sessions")).map(({ id }) => id));
        await dieAt(run, world, "spawn", point, null, kind);
        const added = (await world.call("sessions")).filter(({ id }) => !before.has(id));
        if (!run.check(added.length === 1, "lost", `spawn ${kind} at ${point}: ${added.length} sessions were recorded`))
          continue;
        const session = added[0]!.id;
        made(world, session);
        // Recorded as up, and not only observed: an observed agent may be about to be stopped.
        const isUp = async (): Promise<boolean> =>
          (await world.events(session)).some(({ type }) => type === "launch.up" || type === "launch.adopted");
        await until(`${session} to run`, isUp, 60_000).catch((error: unknown) =>
          run.bad("untrue", `spawn ${kind} at ${point}: ${String(error)}`),
        );
        const starts = new Set(world.ledger.of(session, "started").map(({ launch }) => launch)).size;
        if (point === "launch.made")
          run.check(starts === 1, "doubled", `spawn ${kind} at ${point}: started ${starts} times`);
      }
    }
    await audit(run, world, { agentsMayDie: true });
  },
};

function made(world: World, session: string): void {
  world.requests.requests.push({ client: -1, verb: "spawn", session, from: 0, to: 0, fate: "ok", error: null });
}

/** Undisturbed: it must work. */
async function bring(run: Run, world: World, session: string, verb: "stop" | "kill" | "restore"): Promise<void> {
  const { want } = (await world.show(session)).intent;
  const wanted = { stop: "stopped", kill: "killed", restore: "running" }[verb];
  if (want === wanted) return;
  if (want === "killed" && verb === "stop") await bring(run, world, session, "restore");
  const from = Date.now();
  const problem = await world.call(verb, session, { body: {} }).then(() => null, String);
  run.check(problem === null, "untrue", `${verb} of ${session}, ${want} before: ${problem}`);
  const fate = problem === null ? "ok" : "cut";
  world.requests.requests.push({ client: 0, verb, session, from, to: Date.now(), fate, error: problem });
}

/** Issues the verb with the step armed; the daemon dies there, and the next one must finish what was recorded. */
async function dieAt(
  run: Run,
  world: World,
  step: Step,
  point: string,
  session: string | null,
  kind: "chat" | "terminal" = "chat",
): Promise<void> {
  const verb = verbOf[step];
  const { pid } = world.daemon();
  world.arm(point, "kill");
  await ask(run, world, { client: 0, verb, session }, (): Promise<unknown> => {
    if (verb === "spawn") return world.call("spawn", "", { body: { project: "my-app", kind } });
    return world.call(verb, session!, { body: {} });
  });
  world.disarm(point);
  // A step that this kind does not have leaves the daemon alive.
  if (!isRunning(pid)) run.count("kills");
  await world.calm();
  if (session === null) return;
  const look = async (): Promise<boolean> => {
    const found = (await world.call("sessions")).find(({ id }) => id === session);
    if (verb === "delete") return found === undefined && !world.census().has(session);
    if (found === undefined) return false;
    if (verb === "restore") return found.processes.some(({ what }) => what === "agent");
    const over = found.processes.length === 0 && !world.census().has(session);
    return (
      over &&
      found.intent.want === (verb === "stop" ? "stopped" : "killed") &&
      (verb === "stop" || found.workspace === "trashed")
    );
  };
  await until(`${verb} of ${session} to be finished`, look, 90_000).catch((error: unknown) =>
    run.bad("untrue", `${step} at ${point}: ${String(error)}`),
  );
  await checkWork(run, world);
  if (verb === "kill" || verb === "delete") await checkTrash(run, world, await world.call("sessions"));
}

export const alike: Scenario = {
  name: "names-alike",
  group: "fault",
  promise: "a verb on ma-7 never reaches ma-70, and the id of a deleted session is never given out again",
  run: async (run) => {
    await using world = await World.open({ HOLDFAST_TEST_MINUTE_MS: "300" });
    const made: { id: string; pid: number }[] = [];
    for (const issue of ["7", "70", "71"]) {
      const { id } = await world.call("spawn", "", { body: { project: "my-app", kind: "terminal", issue } });
      made.push({ id, pid: (await world.agent(id)).pid });
    }
    const others = made.slice(1);
    await world
      .call("prompt", made[0]!.id, { body: { promptId: "alike", text: "for-the-first", waitMs: 15_000 } })
      .catch(() => undefined);
    for (const verb of ["stop", "restore", "kill"] as const) await world.call(verb, made[0]!.id, { body: {} });
    await world.call("delete", made[0]!.id, { body: {} });
    run.count("verbs", 5);
    for (const { id, pid } of others) {
      run.check(isRunning(pid), "ended", `the agent of ${id} was ended by verbs on ${made[0]!.id}`);
      const got = world.ledger.of(id, "prompt").map(({ value }) => value);
      run.check(got.length === 0, "doubled", `${id} received the prompt of ${made[0]!.id}: ${got.join()}`);
    }
    await checkLeftovers(run, world);
    // Time for the purge of a deleted session's output.
    await delay(1_500);
    await world.crash();
    run.count("kills");
    await world.calm();
    for (let n = 0; n < 2; n++) {
      const { id } = await world.call("spawn", "", { body: { project: "my-app", kind: "terminal", issue: "7" } });
      run.check(!made.some((one) => one.id === id), "doubled", `${id} was given out again after its delete`);
    }
  },
};

export const pidReuse: Scenario = {
  name: "pid-reuse",
  group: "fault",
  namespace: "pid",
  promise: "a dead agent's pid in other hands is neither adopted nor signalled",
  needs: () => (process.getuid?.() === 0 ? null : "needs root for a pid namespace"),
  run: async (run) => {
    await using world = await World.open();
    const session = await world.start("chat");
    const { pid } = await world.agent(session);
    await world.killDaemons();
    run.count("kills");
    await endMarked([...world.census()].flatMap(([, processes]) => processes));
    let victim = 0;
    for (let tries = 0; tries < 200 && victim !== pid; tries++) {
      writeFileSync("/proc/sys/kernel/ns_last_pid", String(pid - 1));
      const child = spawn("sleep", ["300"], { stdio: "ignore", env: { PATH: world.env["PATH"]! } });
      await once(child, "spawn");
      if (child.pid === pid) victim = pid;
      else child.kill("SIGKILL");
    }
    if (victim !== pid) throw new Error(`pid ${pid} could not be taken over`);
    await world.calm();
    const back = await until(
      "another agent",
      async () => {
        const agent = (await world.show(session)).processes.find(({ what }) => what === "agent");
        return agent !== undefined && agent.pid !== victim && isRunning(agent.pid);
      },
      45_000,
    ).catch(() => false);
    run.check(back, "untrue", "a foreign process with the dead agent's pid was taken for the agent");
    await world.call("kill", session, { body: {} });
    await delay(500);
    run.check(isRunning(victim), "ended", "a foreign process with the dead agent's pid was signalled");
    if (isRunning(victim)) process.kill(victim, "SIGKILL");
  },
};

export const tmuxSilent: Scenario = {
  name: "tmux-silent",
  group: "fault",
  promise: "a tmux server that does not answer leads to no conclusion: no agent is ended or started",
  run: async (run) => {
    await using world = await World.open();
    const sessions = [await world.start("terminal"), await world.start("terminal")];
    const before = await Promise.all(sessions.map((id) => world.agent(id)));
    const server = Number(
      execFileSync("tmux", ["-L", world.paths.tmuxSocket, "display-message", "-p", "#{pid}"], { encoding: "utf8" }),
    );
    process.kill(server, "SIGSTOP");
    try {
      await world.crash();
      run.count("kills");
      await world.calm();
      await delay(8_000);
    } finally {
      process.kill(server, "SIGCONT");
    }
    await until(
      "tmux to be seen again",
      async () => (await world.show(sessions[0]!)).processes.length > 0,
      45_000,
    ).catch((error: unknown) => run.bad("untrue", String(error)));
    for (const [at, id] of sessions.entries()) {
      run.check(isRunning(before[at]!.pid), "ended", `the agent of ${id} was ended while tmux was silent`);
      run.check(
        world.ledger.of(id, "started").length === 1,
        "doubled",
        `${id} was started ${world.ledger.of(id, "started").length} times`,
      );
    }
    await audit(run, world);
  },
};

export const spawnFails: Scenario = {
  name: "spawn-fails",
  group: "fault",
  promise: "a spawn is all or nothing: one that fails leaves no worktree, branch or registration",
  run: async (run) => {
    await using world = await World.open();
    const config = JSON.parse(readFileSync(join(world.repo, "holdfast.yaml"), "utf8")) as {
      projects: Record<string, object>;
    };
    config.projects["my-app"] = { ...config.projects["my-app"], postCreate: ["false"] };
    writeFileSync(join(world.repo, "holdfast.yaml"), JSON.stringify(config));
    await world.ok(["project", "add", world.repo]);
    const before = await world.git(world.repo, ["branch", "--list"]);
    for (const kind of ["chat", "terminal"]) {
      const spawned = await world.cli(["spawn", "my-app", "--kind", kind]);
      run.count("verbs");
      run.check(spawned.code === 1, "untrue", `a spawn whose postCreate failed exited ${spawned.code}`);
    }
    await checkLeftovers(run, world);
    const after = await world.git(world.repo, ["branch", "--list"]);
    run.check(after === before, "left", `branches of failed spawns: ${after}`);
  },
};

export const manyDaemons: Scenario = {
  name: "many-daemons",
  group: "fault",
  promise: "one daemon per home, however many are started at once",
  run: async (run) => {
    await using world = await World.open();
    await world.start("chat");
    for (let round = 0; round < 3; round++) {
      await world.killDaemons();
      run.count("kills");
      const daemons = Array.from({ length: 5 }, () => world.startDaemon());
      await Promise.all(daemons.map(({ ready }) => ready));
      await until("the others to exit", () => world.daemons().length <= 1, 60_000).catch(() => undefined);
      run.check(world.daemons().length === 1, "doubled", `${world.daemons().length} daemons run after five starts`);
    }
    await audit(run, world);
  },
};

export const staysDown: Scenario = {
  name: "stays-down",
  group: "fault",
  promise: "an answered stop, snooze, archive or kill holds although the daemon dies right behind its answer",
  run: async (run) => {
    await using world = await World.open({ HOLDFAST_TEST_MINUTE_MS: "300" });
    const wants = { stop: "stopped", snooze: "snoozed", archive: "archived", kill: "killed" } as const;
    const made: { id: string; verb: keyof typeof wants }[] = [];
    for (const verb of ["stop", "snooze", "archive", "kill"] as const)
      made.push({ id: await world.start(verb === "snooze" || verb === "kill" ? "terminal" : "chat"), verb });
    for (const { id, verb } of made) {
      const body = { wait: false, ...(verb === "snooze" ? { forMs: 24 * 3_600_000 } : {}) };
      await world.call(verb, id, { body: body as { wait: boolean; forMs: number } });
      run.count("verbs");
      await world.killDaemons();
      run.count("kills");
      await world.calm();
      const { intent } = await world.show(id);
      run.check(intent.want === wants[verb], "untrue", `${id} is ${intent.want} right after an answered ${verb}`);
    }
    for (const { id, verb } of made) {
      const down = async (): Promise<boolean> =>
        (await world.show(id)).processes.length === 0 && !world.census().has(id);
      await until(`${id} to be down`, down, 90_000).catch((error: unknown) =>
        run.bad("untrue", `${verb}: ${String(error)}`),
      );
    }
    // Time for policies and the loop to react.
    await delay(2_000);
    for (const { id, verb } of made) {
      const { intent } = await world.show(id);
      run.check(intent.want === wants[verb], "untrue", `${id} is ${intent.want} after an answered ${verb}`);
      run.check(!world.census().has(id), "left", `${id} runs again after an answered ${verb}`);
    }
    await audit(run, world);
  },
};

export const convertBesideKill: Scenario = {
  name: "convert-beside-kill",
  group: "fault",
  promise: "a session that is killed while it is being converted stays killed",
  run: async (run) => {
    const program = join(import.meta.dirname, "../../acp-agents/ignores-sigterm.ts");
    const both = { chat: { command: [process.execPath, program] }, terminal: { command: ["sleep", "600"] } };
    await using world = await World.open({}, { stubborn: both });
    const session = await world.start("chat", "stubborn");
    // The agent takes seconds to stop: the kill arrives while the convert waits for that.
    const converted = world.call("convert", session, { body: { kind: "terminal", fresh: true } }).catch(() => null);
    const asked = async (): Promise<boolean> =>
      (await world.events(session)).some(
        ({ type, want }) => type === "session.intent" && (want as { convert?: object }).convert !== undefined,
      );
    await until("the convert to be recorded", asked);
    await world.call("kill", session, { body: { wait: false } });
    run.count("verbs", 2);
    await converted;
    const final = await until(
      "it to settle",
      async () => {
        const now = await world.show(session);
        return (now.workspace !== "ready" && now.processes.length === 0) || now.intent.want !== "killed" ? now : null;
      },
      60_000,
    );
    run.check(
      final.intent.want === "killed",
      "untrue",
      `${session} was killed in the middle of a convert and is ${final.intent.want}`,
    );
  },
};

export const convertAlone: Scenario = {
  name: "convert-alone",
  group: "fault",
  promise: "a convert stops one side completely before it starts the other",
  run: async (run) => {
    const program = join(import.meta.dirname, "../../acp-agents/ignores-sigterm.ts");
    const both = { chat: { command: [process.execPath, program] }, terminal: { command: ["sleep", "600"] } };
    await using world = await World.open({}, { stubborn: both });
    const session = await world.start("chat", "stubborn");
    let over = false;
    const converted = world.call("convert", session, { body: { kind: "terminal", fresh: true } }).finally(() => {
      over = true;
    });
    let most = 0;
    const watch = (): boolean => {
      const launches = new Set((world.census().get(session) ?? []).map(({ launch }) => launch));
      launches.delete("");
      most = Math.max(most, launches.size);
      return over;
    };
    await until("the convert to end", watch, 60_000);
    await converted;
    run.count("verbs");
    run.check(most === 1, "doubled", `${most} launches of ${session} were alive at the same time`);
    const { kind, processes } = await world.show(session);
    run.check(
      kind === "terminal" && processes.length > 0,
      "untrue",
      `after its convert ${session} is a ${kind} session with ${processes.length} processes`,
    );
    await audit(run, world);
  },
};

export const sameAgentId: Scenario = {
  name: "same-agent-id",
  group: "fault",
  promise: "two projects that define one agent id differently each run their own command, and restart nothing",
  run: async (run) => {
    await using world = await World.open();
    const other = await world.repository("other-app");
    const chat = { command: [process.execPath, join(import.meta.dirname, "../agents/ledger-agent.ts"), "--other"] };
    const worker = { chat, env: { TORTURE_LEDGER: world.ledger.path } };
    const config = { projects: { "other-app": { path: ".", prefix: "oa", agent: "worker" } }, agents: { worker } };
    writeFileSync(join(other, "holdfast.yaml"), JSON.stringify(config));
    await world.ok(["project", "add", other]);
    const mine = await world.start("chat");
    const { id: theirs } = await world.call("spawn", "", { body: { project: "other-app", kind: "chat" } });
    await world.crash();
    run.count("kills");
    await world.calm();
    // Builds are compared every few seconds.
    await delay(15_000);
    for (const id of [mine, theirs]) {
      const starts = world.ledger.of(id, "started").length;
      run.check(starts === 1, "ended", `the agent of ${id} was started ${starts} times`);
      const { pid } = await world.agent(id);
      const isOther = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes("--other");
      run.check(isOther === (id === theirs), "untrue", `${id} runs the command of the other project`);
    }
  },
};

/** Like `runaway`, but with its environment: found by the launch's marker. */
export const detachedChild: Scenario = {
  name: "detached-child",
  group: "fault",
  promise: "a kill ends children in a process session of their own that ignore SIGTERM",
  run: async (run) => {
    const program = join(import.meta.dirname, "../../acp-agents/setsids-children.ts");
    await using world = await World.open({}, { detaching: { chat: { command: [process.execPath, program] } } });
    const session = await world.start("chat", "detaching");
    await world.call("prompt", session, { body: { promptId: "p1", text: "go", waitForTurn: true, waitMs: 20_000 } });
    const said = (await world.events(session))
      .filter(({ type }) => type === "agent.text")
      .map((event) => String(event["text"]))
      .join("");
    const pid = Number(/child (\d+)/.exec(said)?.[1]);
    run.check(isRunning(pid), "ended", "the child was ended in mid-session");
    await world.call("kill", session, { body: {} });
    const gone = await until("the child to end", () => !isRunning(pid), 45_000).catch(() => false);
    run.check(gone, "left", `process ${pid} of ${session} survived its kill`);
  },
};
