/** Faults of processes: tmux killed, a program that is missing for a moment, runaways, halts, another build in mid-turn. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { readCgroupFacts, judgeCgroup, launchCgroupsRefused } from "../../../src/base/cgroup-risk.ts";
import { openCgroups } from "../../../src/base/cgroup.ts";
import { anotherBuild } from "../../harness/another-build.ts";
import { isRunning, markedProcesses } from "../../harness/marked.ts";
import { until } from "../../harness/until.ts";
import { audit, checkLeftovers } from "../audit.ts";
import type { Scenario } from "../report.ts";
import { World } from "../world.ts";

const acpAgents = join(import.meta.dirname, "../../acp-agents");
const ledgerAgent = join(import.meta.dirname, "../agents/ledger-agent.ts");

export const tmuxKilled: Scenario = {
  name: "tmux-killed",
  group: "fault",
  promise: "after the tmux server is killed, terminal sessions come back once and chats do not notice",
  run: async (run) => {
    await using world = await World.open();
    const terminals = [await world.start("terminal"), await world.start("terminal")];
    const chat = await world.start("chat");
    const before = await world.agent(chat);
    const server = Number(
      execFileSync("tmux", ["-L", world.paths.tmuxSocket, "display-message", "-p", "#{pid}"], { encoding: "utf8" }),
    );
    process.kill(server, "SIGKILL");
    for (const id of terminals)
      await until(`${id} to be started again`, () => world.ledger.of(id, "started").length >= 2, 90_000).catch(
        (error: unknown) => run.bad("ended", String(error)),
      );
    await audit(run, world, { agentsMayDie: true });
    for (const id of terminals)
      run.check(
        world.ledger.of(id, "started").length === 2,
        "doubled",
        `${id} was started ${world.ledger.of(id, "started").length} times`,
      );
    run.check((await world.agent(chat)).pid === before.pid, "ended", "the chat agent was replaced");
  },
};

export const programMissing: Scenario = {
  name: "program-missing",
  group: "fault",
  promise: "an agent program that is missing for a moment costs no living chat and no session",
  run: async (run) => {
    const world = new World();
    await using _ = world;
    const bin = join(world.directory, "bin");
    const program = join(bin, "chatty");
    mkdirSync(bin);
    writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${ledgerAgent}"\n`);
    chmodSync(program, 0o755);
    await world.begin({ chatty: { chat: { command: [program] } } });
    const [living, crashing] = [await world.start("chat", "chatty"), await world.start("chat", "chatty")];
    const before = await world.agent(living);
    renameSync(program, `${program}.away`);
    await world.crash();
    run.count("kills");
    await world.calm();
    // Time to decide about it.
    await delay(2_000);
    run.check(isRunning(before.pid), "ended", "a living chat was ended by a start while its program was missing");
    const agent = (await world.show(crashing)).processes.find(({ what }) => what === "agent");
    if (agent !== undefined && isRunning(agent.pid)) process.kill(agent.pid, "SIGKILL");
    // Longer than the crash budget's retries take.
    await delay(8_000);
    run.check(isRunning(before.pid), "ended", "a living chat was ended while its program was missing");
    const { status, reason } = await world.show(crashing);
    run.check(status !== "failed", "untrue", `a missing program counts as a crash: failed, ${reason}`);
    renameSync(`${program}.away`, program);
    const back = await until(
      "the session to come back",
      async () => {
        const found = (await world.show(crashing)).processes.find(({ what }) => what === "agent");
        return found !== undefined && isRunning(found.pid);
      },
      60_000,
    ).catch(() => false);
    run.check(back, "ended", "the session does not come back when its program does");
  },
};

/** Elsewhere this is not promised, and `doctor` reports that. */
function withoutCgroups(): string | null {
  const { state } = openCgroups("holdfast-0", launchCgroupsRefused(judgeCgroup(readCgroupFacts())));
  return state.is === "ok" ? null : state.why;
}

export const runaway: Scenario = {
  name: "runaway",
  group: "fault",
  promise: "a kill ends children that set their own session, forked twice and cleared their environment",
  needs: withoutCgroups,
  run: async (run) => {
    const world = new World();
    await using _ = world;
    const file = join(world.directory, "runaway");
    await world.begin({
      careless: { chat: { command: [process.execPath, ledgerAgent] }, env: { TORTURE_RUNAWAY: file } },
    });
    const session = await world.start("chat", "careless");
    const pid = Number(
      await until("the runaway to start", () => existsSync(file) && readFileSync(file, "utf8").trim()),
    );
    const killed = await world.cli(["session", "kill", session]);
    run.check(killed.code === 0, "untrue", `kill: ${killed.stderr.trim()}`);
    const gone = await until("the runaway to end", () => !isRunning(pid), 45_000).catch(() => false);
    run.check(gone, "left", `process ${pid} of ${session} survived its kill`);
    if (!gone) process.kill(pid, "SIGKILL");
  },
};

export const haltBesideDelete: Scenario = {
  name: "halt-beside-delete",
  group: "fault",
  promise: "stop --halt-sessions ends sessions that are being deleted as well",
  run: async (run) => {
    await using world = await World.open(
      {},
      { stubborn: { chat: { command: [process.execPath, join(acpAgents, "ignores-sigterm.ts")] } } },
    );
    const session = await world.start("chat", "stubborn");
    await world.ok(["session", "delete", session, "--yes", "--no-wait"]);
    const halted = await world.cli(["stop", "--halt-sessions", "--yes"], { timeoutMs: 120_000 });
    const left = world.census().get(session) ?? [];
    run.check(
      halted.code !== 0 || left.length === 0,
      "untrue",
      `halt exited 0 (${halted.stdout.trim()}), but ${left.length} processes of ${session} run`,
    );
    await world.calm();
    await until(`${session} to be gone`, () => !world.census().has(session), 90_000).catch((error: unknown) =>
      run.bad("left", String(error)),
    );
  },
};

export const haltLate: Scenario = {
  name: "halt-late",
  group: "fault",
  promise: "a halt that takes longer than it waits still ends the daemon when the sessions are gone",
  run: async (run) => {
    await using world = await World.open();
    await world.start("terminal");
    const { pid } = world.daemon();
    const server = Number(
      execFileSync("tmux", ["-L", world.paths.tmuxSocket, "display-message", "-p", "#{pid}"], { encoding: "utf8" }),
    );
    process.kill(server, "SIGSTOP");
    const halt = world.cli(["stop", "--halt-sessions", "--yes"], { timeoutMs: 120_000 });
    const early = await Promise.race([halt.then(({ code }) => code), delay(22_000).then(() => null)]);
    process.kill(server, "SIGCONT");
    await halt;
    const gone = await until("the daemon to exit", () => !isRunning(pid), 60_000).catch(() => false);
    run.check(
      gone,
      "untrue",
      `the daemon still runs after a halt (first answer ${early}) although its sessions are gone`,
    );
  },
};

export const worktreeRemoved: Scenario = {
  name: "worktree-removed",
  group: "fault",
  promise: "a worktree that was deleted by hand leaves no registration after kill and delete",
  run: async (run) => {
    await using world = await World.open();
    for (const verb of ["kill", "delete"] as const) {
      const session = await world.start("chat");
      rmSync((await world.show(session)).workspacePath, { recursive: true });
      await world.call(verb, session, { body: {} });
      run.count("verbs");
    }
    await checkLeftovers(run, world);
  },
};

export const workerRemoved: Scenario = {
  name: "worker-removed",
  group: "fault",
  promise: "a worker directory that was removed in mid-turn is reported, and the session can be killed",
  run: async (run) => {
    await using world = await World.open();
    const session = await world.start("chat");
    await world.call("prompt", session, { body: { promptId: "p1", text: "p1 chunks:100000 every:20", waitMs: 0 } });
    await until("chunks", () => world.ledger.of(session, "chunk").length > 5);
    rmSync(join(world.paths.workers, session), { recursive: true });
    const seen = await until(
      "the loss to be reported",
      async () => {
        const { status, turn } = { turn: null, ...(await world.show(session)) };
        return status !== "working" || turn !== null;
      },
      60_000,
    ).catch(() => false);
    run.check(seen, "untrue", "status is still working 60 s after the worker directory was removed");
    const killed = await world.cli(["session", "kill", session]);
    run.check(killed.code === 0, "untrue", `kill: ${killed.stderr.trim()}`);
    await until("its processes to end", () => !world.census().has(session), 60_000).catch((error: unknown) =>
      run.bad("left", String(error)),
    );
  },
};

export const upgrade: Scenario = {
  name: "upgrade",
  group: "fault",
  promise: "daemons of another build, back and forth in mid-turn, lose no chunk and replace no agent",
  run: async (run) => {
    await using world = await World.open();
    const chat = await world.start("chat");
    const terminal = await world.start("terminal");
    const before = await Promise.all([chat, terminal].map((id) => world.agent(id)));
    const builds = [anotherBuild(world, "newer"), anotherBuild(world, "newest")];
    const own = join(import.meta.dirname, "../../../bin/holdfast");
    await world.call("prompt", chat, {
      body: { promptId: "p1", text: "p1 chunks:1500 every:8 stop:max_tokens", waitMs: 0 },
    });
    run.count("prompts");
    for (const command of [builds[0]!, own, builds[1]!, builds[0]!, own]) {
      const ran = await world.run(command, ["restart"], { timeoutMs: 120_000 });
      run.count("verbs");
      run.check(ran.code === 0, "untrue", `restart by another build: ${ran.stderr.trim().slice(0, 200)}`);
    }
    for (const [at, id] of [chat, terminal].entries())
      run.check(isRunning(before[at]!.pid), "ended", `the agent of ${id} was ended by an upgrade`);
    const idle = async (): Promise<boolean> => (await world.show(chat)).status === "idle";
    await until("the turn to end", idle, 120_000).catch((error: unknown) => run.bad("untrue", String(error)));
    const events = await world.events(chat);
    const said = events
      .filter(({ type }) => type === "agent.text")
      .map((event) => String(event["text"]))
      .join("");
    const emitted = world.ledger.of(chat, "chunk").map(({ value }) => value ?? "");
    run.count("chunks", emitted.length);
    run.check(said === emitted.join(""), "lost", "the record differs from what the agent emitted");
    const ends = events.filter(({ type }) => type === "turn.ended").map((event) => event["stopReason"]);
    run.check(ends.join() === "max_tokens", "untrue", `the turn ended as ${ends.join()}`);
    for (const [at, id] of [chat, terminal].entries())
      run.check(
        (await world.agent(id)).pid === before[at]!.pid,
        "ended",
        `the agent of ${id} was replaced by an upgrade`,
      );
    run.check(
      markedProcesses(`HOLDFAST_HOME=${world.home}`).filter(({ what }) => /daemon\.cjs/.test(what)).length === 1,
      "doubled",
      "more than one daemon runs",
    );
  },
};
