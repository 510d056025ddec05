/**
 * Terminal sessions against bare tmux, in turns: a launch against `tmux new-session` by hand, and one observation of 500
 * sessions against one `tmux list-panes -a`. Own servers, stopped afterwards. Well under a minute.
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bootId, identify } from "../src/base/pid.ts";
import type { AgentDefinition } from "../src/ports/agents.ts";
import { asLaunchId, asProjectId, asSessionId } from "../src/contract/ids.ts";
import type { SessionState } from "../src/model/session.ts";
import { requestFor, sampleSession, upSession } from "../src/ports/runtime-contract.fixture.ts";
import { paneFormat } from "../src/terminal/panes.ts";
import { openTmuxRuntime } from "../src/terminal/runtime.ts";
import { atMost, print, ratio, summarise } from "./lib/figure.ts";
import { terminalDefaults } from "../src/agents/defaults.ts";

const launches = 25;
const looks = 25;
const sessions = 500;
const goalLook = 2;

const directory = mkdtempSync(join(tmpdir(), "hf-bench-tmux-"));
const socketName = `hf-bench-${randomBytes(6).toString("hex")}`;
const env = { PATH: process.env["PATH"] ?? "", HOME: directory, LANG: "C.UTF-8" };
const terminal = { ...terminalDefaults, start: ["cat"], resume: null, conversationId: "none" as const, interrupt: [] };
const agent: AgentDefinition = { id: "cat", label: "", install: "", version: null, terminal, chat: null, env: {} };
const runtime = openTmuxRuntime({
  socketName,
  configDirectory: join(directory, "tmux"),
  launchesDirectory: join(directory, "launches"),
  agents: { of: () => agent, list: () => [agent] },
  bootId: bootId(),
  env: { ...env, HOLDFAST_HOME: directory },
});

try {
  await tmux(["new-session", "-d", "-s", "keep", "cat"]);
  await measureLaunch();
  await measureLook();
} finally {
  await runtime.close();
  await tmux(["kill-server"]);
  rmSync(join("/tmp", `tmux-${process.getuid?.() ?? 0}`, socketName), { force: true });
  rmSync(directory, { recursive: true, force: true });
}

async function measureLaunch(): Promise<void> {
  const bare: number[] = [];
  const ours: number[] = [];
  for (let round = 0; round <= launches; round++) {
    const planned = session(round);
    const floor = await timed(() => tmux(["new-session", "-d", "-s", `bare-${round}`, "-c", directory, "cat"]));
    const measured = await timed(() => runtime.launch(requestFor(planned)));
    if (round === 0) continue;
    bare.push(floor);
    ours.push(measured);
  }
  const { median, min, max } = ratio(ours, bare);
  const figure = { bench: "tmux", what: "launch vs bare new-session", measured: median, unit: "x", min, max };
  // It has no goal: the goal is about a complete spawn, worktree included.
  print({ ...figure, ms: summarise(ours), bareMs: summarise(bare), rounds: launches });
}

async function measureLook(): Promise<void> {
  // From one file, because 500 calls would take longer than the bench.
  const source = join(directory, "sessions.conf");
  const made = Array.from({ length: sessions }, (_, index) => session(1000 + index));
  const lines = made.flatMap(({ id }) => [
    `new-session -d -s ${id} -x 80 -y 24 cat`,
    `set-option -t =${id}: @holdfast-session ${id}`,
    `set-option -t =${id}: @holdfast-launch launch-${id}`,
    `set-option -p -t =${id}: @holdfast-agent 1`,
  ]);
  writeFileSync(source, `${lines.join("\n")}\n`);
  await tmux(["source-file", source]);
  const pids = await tmux(["list-panes", "-a", "-F", "#{session_name} #{pane_pid}"]);
  const pidOf = new Map(pids.split("\n").map((line) => line.split(" ") as [string, string]));
  const up = made.map((one) => {
    const launch = asLaunchId(`launch-${one.id}`);
    mkdirSync(join(directory, "launches", one.id, launch), { recursive: true });
    return upSession(one, launch, identify(Number(pidOf.get(one.id)))!);
  });
  const bare: number[] = [];
  const ours: number[] = [];
  for (let round = 0; round <= looks; round++) {
    const floor = await timed(() => tmux(["list-panes", "-a", "-F", paneFormat]));
    let alive = 0;
    const measured = await timed(async () => {
      for (const { seen } of (await runtime.observe(up)).values())
        if (seen.is === "known" && seen.value.agent.alive) alive++;
    });
    if (alive !== sessions) throw new Error(`only ${alive} of ${sessions} sessions were seen alive`);
    if (round === 0) continue;
    bare.push(floor);
    ours.push(measured);
  }
  const { median, min, max } = ratio(ours, bare);
  const figure = { bench: "tmux", what: "look vs one list-panes -a", measured: median, unit: "x", sessions, min, max };
  print({ ...figure, ...atMost(median, goalLook), ms: summarise(ours), bareMs: summarise(bare), rounds: looks });
}

function session(number: number): SessionState {
  return sampleSession({
    id: asSessionId(`b-${number}`),
    project: asProjectId("bench"),
    agent: "cat",
    workspacePath: directory,
  });
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await run();
  return performance.now() - startedAt;
}

function tmux(args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn("tmux", ["-u", "-L", socketName, ...args], { env, stdio: ["ignore", "pipe", "ignore"] });
    let out = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => void (out += text));
    child.on("error", reject).on("close", () => resolve(out));
  });
}
