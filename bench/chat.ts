/**
 * The cost of a chat session: memory of its keeper, start to the agent's first committed line, latency of a line to a
 * WebSocket client, throughput of the full chain into ten clients, adopting 500 live sessions, and opening a long
 * transcript. Each is measured in turns with its floor. Linux. About 90 s.
 * `node bench/chat.ts [memory|start|latency|chain|adopt|transcript ...]` runs only the named ones.
 */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { bootId, identify, readStat } from "../src/base/pid.ts";
import { requestLine } from "../src/contract/acp.ts";
import { builderOf, transcriptOf } from "../src/model/transcript/builder.ts";
import type { TranscriptPage } from "../src/contract/transcript.ts";
import type { EventJson } from "../src/contract/stream.ts";
import { floorProgram, runChain, type ChainResult } from "./lib/chain.ts";
import { makeChatDirectory, newIds, openChatRuntime, openChatStore, sessionCreated } from "./lib/chat-home.ts";
import { atMost, print, ratio, round, summarise } from "./lib/figure.ts";
import { seedLongChat } from "./lib/long-chat.ts";
import { follow, type BenchFollowers, type Received } from "./lib/followers.ts";
import { makeHome, type BenchHome } from "./lib/home.ts";
import { startKeeper } from "./lib/keeper-run.ts";
import { cpuMs, privateKib } from "./lib/proc.ts";
import { ask, startDaemon, startEmptyNode } from "./lib/processes.ts";
import { addProject, haltAll, makeRepository, spawnSession } from "./lib/project.ts";

const nodeAgent = [process.execPath, fileURLToPath(import.meta.resolve("./lib/acp-agent.ts"))];
const shellAgent = ["sh", join(import.meta.dirname, "lib/acp-agent.sh")];
const adoptProgram = fileURLToPath(import.meta.resolve("./lib/adopt.ts"));

const goalMegabytes = 0.4;
const memoryRounds = 3;
const memoryLines = 1_000_000;
const goalStart = 2.5;
const startRounds = 11;
const goalLatencyMs = 5;
const latencyRounds = 3;
const latencyEvents = 2_000;
const latencyRate = 1_000;
const goalPerSecond = 80_000;
const chainRounds = 3;
const chainEvents = 400_000;
const toolEvents = 150_000;
const followers = 10;
const goalAdoptMs = 25;
const adoptRounds = 7;
const adopted = 500;
const goalTranscriptTime = 1 / 50;
const goalTranscriptBytes = 1 / 10;
const transcriptRounds = 7;
const transcriptEvents = 50_000;
const transcriptTail = 200;
const replayPage = 10_000;

const asked = process.argv.slice(2);
const wants = (what: string): boolean => asked.length === 0 || asked.includes(what);
if (wants("memory")) await measureMemory();
if (wants("start")) await measureStarts();
if (wants("latency") || wants("chain")) await withDaemon();
if (wants("adopt")) await measureAdoption();
if (wants("transcript")) await measureTranscript();

/** The floor: three idle shells of the same kind. */
async function measureMemory(): Promise<void> {
  const { directory, remove } = makeChatDirectory();
  const [before, used, after, sleeping, floor]: number[][] = [[], [], [], [], []];
  const lines = `${JSON.stringify({ jsonrpc: "2.0", method: "session/cancel", params: {} })}\n`.repeat(1_000);
  try {
    for (let count = 0; count < memoryRounds; count++) {
      floor!.push(await threeShells());
      await using keeper = await startKeeper(directory, `launch-${count}`, ["sh", "-c", "exec cat >/dev/null"]);
      before!.push(keeper.memory().three / 1024);
      // Pages that are shared until their first use do not count as growth.
      await keeper.feed(lines);
      used!.push(keeper.memory().three / 1024);
      // Only the first keeper gets all lines; the others show the spread.
      const rings = count === 0 ? memoryLines / 1_000 : 10;
      for (let ring = 1; ring < rings; ring++) await keeper.feed(lines);
      after!.push(keeper.memory().three / 1024);
      sleeping!.push(keeper.memory().sleep / 1024);
    }
  } finally {
    remove();
  }
  const [start, end] = [summarise(before!), round(after![0]!)];
  const more = { floorMb: summarise(floor!), watchersSleepMb: summarise(sleeping!), rounds: memoryRounds };
  const what = "keeper, feeder and watcher, private memory";
  print({
    bench: "chat",
    what,
    measured: start.median,
    unit: "MB",
    ...atMost(start.median, goalMegabytes),
    spread: [start.min, start.max],
    ...more,
  });
  const grown = round(end - used![0]!, 3);
  print({
    bench: "chat",
    what: `${what}, after ${memoryLines / 1e6}M lines`,
    measured: end,
    unit: "MB",
    ...atMost(end, goalMegabytes),
    grownMbSinceFirstUse: grown,
  });
}

async function threeShells(): Promise<number> {
  const shells = Array.from({ length: 3 }, () =>
    spawn("sh", ["-c", "read -r line"], { stdio: ["pipe", "ignore", "ignore"] }),
  );
  await Promise.all(shells.map((shell) => once(shell, "spawn")));
  await new Promise((resolve) => setTimeout(resolve, 50));
  const kib = shells.reduce((sum, { pid = 0 }) => sum + privateKib(pid), 0);
  await Promise.all(shells.map((shell) => (shell.kill("SIGKILL"), once(shell, "exit"))));
  return kib / 1024;
}

function once(child: ChildProcess, event: "spawn" | "exit"): Promise<void> {
  return new Promise((resolve) => child.once(event, () => resolve()));
}

async function measureStarts(): Promise<void> {
  const { directory, remove } = makeChatDirectory();
  const store = openChatStore(directory);
  let firstLineAt: number | null = null;
  const runtime = openChatRuntime(directory, store, { sh: shellAgent, node: nodeAgent }, () => {
    firstLineAt ??= performance.now();
  });
  let number = 0;
  const ours = async (agent: string): Promise<{ firstMs: number; openMs: number }> => {
    const { id, launch } = newIds(++number);
    const session = await store.create(sessionCreated(directory, id, agent), [
      { type: "workspace.ready", path: join(directory, "work"), branch: id, branchCreated: false, base: "main" },
      { type: "launch.started", launch, how: "fresh", attempt: 1 },
    ]);
    firstLineAt = null;
    const begun = performance.now();
    const result = await runtime.launch({ session, launch, how: "fresh", prompt: null, env: {} });
    const openMs = performance.now() - begun;
    if (!result.launched || firstLineAt === null) throw new Error("the agent was not launched");
    const firstMs = firstLineAt - begun;
    const up = await store.commit(id, () => [{ type: "launch.up", launch, agent: result.agent }]);
    await runtime.stop(up, { force: true, deadlineMs: 5_000 });
    return { firstMs, openMs };
  };
  try {
    for (const [agent, command] of Object.entries({ sh: shellAgent, node: nodeAgent })) {
      const [floor, first, open]: number[][] = [[], [], []];
      for (let count = 0; count <= startRounds; count++) {
        const pipedMs = await piped(command, join(directory, "work"));
        const { firstMs, openMs } = await ours(agent);
        if (count === 0) continue;
        floor!.push(pipedMs);
        first!.push(firstMs);
        open!.push(openMs);
      }
      const { median, min, max } = ratio(first!, floor!);
      // Real agents are Node programs or slower. The shell agent starts immediately, so its figure is our own overhead.
      const added = summarise(first!.map((ms, index) => ms - floor![index]!));
      print({
        bench: "chat",
        what: `start to first committed line, ${agent} agent`,
        ...(agent === "node"
          ? { measured: median, unit: "x piped spawn", ...atMost(median, goalStart) }
          : { measured: added.median, unit: "ms more than a piped spawn" }),
        spread: agent === "node" ? [min, max] : [added.min, added.max],
        ratio: { median, min, max },
        ms: summarise(first!),
        floorMs: summarise(floor!),
        openedMs: summarise(open!),
        rounds: startRounds,
      });
    }
  } finally {
    await runtime.close();
    store.close();
    remove();
  }
}

/** The same agent on two pipes, from the spawn to its first line. */
async function piped([command = "", ...args]: string[], cwd: string): Promise<number> {
  const env = { PATH: process.env["PATH"] ?? "" };
  const begun = performance.now();
  const child = spawn(command, args, { cwd, env, stdio: ["pipe", "pipe", "ignore"], detached: true });
  child.stdin.write(requestLine(newIds(1).launch, "init", "initialize", { protocolVersion: 1 }));
  await new Promise((resolve) => createInterface({ input: child.stdout }).once("line", resolve));
  const ms = performance.now() - begun;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
  return ms;
}

interface Streaming {
  home: BenchHome;
  daemon: number;
  session: string;
  clients: BenchFollowers;
}

async function withDaemon(): Promise<void> {
  const home = await makeHome(0);
  try {
    await using daemon = await startDaemon(home);
    try {
      const repository = makeRepository(home, "app", 10);
      const agents = { bench: { chat: { command: nodeAgent } } };
      const project = await addProject(home, repository, 0, { agent: "bench", kind: "chat", agents });
      const { id: session } = await spawnSession(home, project);
      const streaming = { home, daemon: daemon.pid, session };
      if (wants("latency")) {
        using clients = await follow(home, 1);
        await measureLatency({ ...streaming, clients });
      }
      if (wants("chain")) {
        using clients = await follow(home, followers);
        await measureChain({ ...streaming, clients });
      }
    } finally {
      await haltAll(home);
    }
  } finally {
    home.remove();
  }
}

/** One turn: the output that its prompt requested, as the first follower received it, and the daemon's CPU time. */
async function turn({ home, daemon, session, clients }: Streaming, text: string) {
  const before = cpuMs(daemon);
  const over = clients.turn();
  await ask(home.paths.socket, `/api/sessions/${session}/prompts`, { promptId: randomUUID(), text });
  const received = await over;
  return { received, cpu: cpuMs(daemon) - before };
}

async function measureLatency(streaming: Streaming): Promise<void> {
  const [p50, p99, cpu, messages]: number[][] = [[], [], [], []];
  const floor: ChainResult[] = [];
  for (let count = 0; count < latencyRounds; count++) {
    const chain = await runChain(streaming.home.paths.home, {
      events: latencyEvents,
      perSecond: latencyRate,
      clients: 1,
    });
    if (chain !== null) floor.push(chain);
    const { received, cpu: spent } = await turn(streaming, `stamped ${latencyEvents} ${latencyRate}`);
    const late = latencies(received).toSorted((a, b) => a - b);
    if (late.length !== latencyEvents) throw new Error(`${late.length} of ${latencyEvents} events arrived`);
    p50!.push(late[Math.floor(late.length * 0.5)]!);
    p99!.push(late[Math.floor(late.length * 0.99)]!);
    cpu!.push((spent / latencyEvents) * 1000);
    messages!.push(received.length);
  }
  const { median, min, max } = summarise(p50!);
  print({
    bench: "chat",
    what: `line to WebSocket client, p50 at ${latencyRate} events/s`,
    measured: median,
    unit: "ms",
    ...atMost(median, goalLatencyMs),
    spread: [min, max],
    p99Ms: summarise(p99!),
    floorP50Ms: summarise(floor.map(({ p50Ms }) => p50Ms)),
    cpuMicrosPerEvent: summarise(cpu!),
    messages: summarise(messages!).median,
    rounds: latencyRounds,
  });
}

/** Chunks of one tick become one event, so this finds the stamps in its text. */
function latencies(received: readonly Received[]): number[] {
  return received.flatMap(({ at, message }) =>
    [
      ...eventsOf(message)
        .toString()
        .matchAll(/<(\d+)>/g),
    ].map(([, stamp]) => Number(at - BigInt(stamp!)) / 1e6),
  );
}

/** Cuts off the sessions after the events: their last line repeats the text. */
function eventsOf(message: Buffer): Buffer {
  const end = message.lastIndexOf('"sessions":[');
  return end < 0 ? message : message.subarray(0, end);
}

/** Lines of 300 bytes: text, joined to one event per tick, and tool calls, one event each. */
async function measureChain(streaming: Streaming): Promise<void> {
  const gen = floorProgram("gen");
  const floor: ChainResult[] = [];
  const kinds = {
    "words, joined": { events: chainEvents, text: `run ${JSON.stringify([gen, String(chainEvents), "0", "b"])}` },
    "tool calls, a row each": { events: toolEvents, text: `tools ${toolEvents}` },
  };
  const rates: Record<string, number[]> = {};
  const cpus: Record<string, number[]> = {};
  for (let count = 0; count < chainRounds; count++) {
    const directory = streaming.home.paths.home;
    const chain = await runChain(directory, { events: chainEvents, perSecond: 0, clients: followers });
    if (chain !== null) floor.push(chain);
    for (const [kind, { events, text }] of Object.entries(kinds)) {
      if (kind.startsWith("words") && gen === null) continue;
      const { received, cpu } = await turn(streaming, text);
      const first = received.find(({ message }) => /"type":"(agent.text|tool.updated)"/.test(message.toString()))!;
      const seconds = Number(received.at(-1)!.at - first.at) / 1e9;
      const seen = received.reduce((sum, { message: all }) => sum + occurrences(eventsOf(all)), 0);
      if (seen !== events) throw new Error(`${seen} of ${events} events arrived`);
      (rates[kind] ??= []).push(Math.round(events / seconds));
      (cpus[kind] ??= []).push((cpu / events) * 1000);
    }
  }
  for (const [kind, values] of Object.entries(rates)) {
    const { median, min, max } = summarise(values);
    print({
      bench: "chat",
      what: `full chain into ${followers} followers, ${kind}`,
      measured: median,
      unit: "events/s",
      goal: goalPerSecond,
      met: median >= goalPerSecond,
      spread: [min, max],
      cpuMicrosPerEvent: summarise(cpus[kind] ?? []),
      floorPerSecond: summarise(floor.map(({ perSecond }) => perSecond)),
      floorCpuMicros: summarise(floor.map(({ cpuMicros }) => cpuMicros)),
      rounds: chainRounds,
    });
  }
}

function occurrences(message: Buffer): number {
  return message.toString("latin1").match(/brown fox|"toolCallId":/g)?.length ?? 0;
}

/** The floor: reading /proc for as many processes, in this warm process. */
async function measureAdoption(): Promise<void> {
  const { directory, remove } = makeChatDirectory();
  const sleepers = Array.from({ length: adopted }, () =>
    spawn("sleep", ["100000"], { stdio: "ignore", detached: true }),
  );
  try {
    await Promise.all(sleepers.map((sleeper) => once(sleeper, "spawn")));
    await seed(
      directory,
      sleepers.map(({ pid }) => pid ?? 0),
    );
    const [observe, cpu, open, floor, empty]: number[][] = [[], [], [], [], []];
    let kept = 0;
    for (let count = 0; count <= adoptRounds; count++) {
      const begun = performance.now();
      for (const { pid = 0 } of sleepers) readStat(pid);
      const floorMs = performance.now() - begun;
      await using node = await startEmptyNode();
      const ran = spawnSync(process.execPath, [adoptProgram, directory], { encoding: "utf8" });
      const found = JSON.parse(ran.stdout) as Record<"alive" | "openMs" | "observeMs" | "cpuMs" | "kept", number>;
      if (found.alive !== adopted) throw new Error(`${found.alive} of ${adopted} were found alive`);
      if (count === 0) continue;
      floor!.push(floorMs);
      empty!.push(node.readyMs);
      observe!.push(found.observeMs);
      cpu!.push(found.cpuMs);
      open!.push(found.openMs);
      kept = Math.max(kept, found.kept);
    }
    const { median, min, max } = summarise(observe!);
    print({
      bench: "chat",
      what: `adopting ${adopted} live sessions`,
      measured: median,
      unit: "ms",
      ...atMost(median, goalAdoptMs),
      spread: [min, max],
      cpuMs: summarise(cpu!),
      openStoreMs: summarise(open!),
      floorMs: summarise(floor!),
      emptyNodeMs: summarise(empty!),
      descriptorsKept: kept,
      rounds: adoptRounds,
    });
  } finally {
    await Promise.all(sleepers.map((sleeper) => (sleeper.kill("SIGKILL"), once(sleeper, "exit"))));
    remove();
  }
}

/** Sessions right after their conversation was opened; agent and feeder are the same `sleep`. */
async function seed(directory: string, pids: readonly number[]): Promise<void> {
  const store = openChatStore(directory);
  await Promise.all(
    pids.map(async (pid, index) => {
      const { id, launch } = newIds(index + 1);
      const agent = identify(pid)!;
      const one = { pid: agent.pid, startTime: agent.startTime };
      const folder = join(directory, "workers", id, launch);
      mkdirSync(folder, { recursive: true });
      for (const name of ["in", "out", "err"]) closeSync(openSync(join(folder, name), "w"));
      await store.create(sessionCreated(directory, id, "sleeper"), [
        { type: "launch.started", launch, how: "fresh", attempt: 1 },
        { type: "launch.up", launch, agent },
      ]);
      const names = { version: 1, session: id, launch, bootId: bootId(), marker: `HOLDFAST_LAUNCH=${launch}` };
      const rest = { command: ["sleep"], build: "bench", agentSessionId: "s", restarting: false };
      const info = JSON.stringify({ ...names, keeper: one, feeder: one, agent: one, ...rest });
      writeFileSync(join(directory, "workers", id, "record.json"), info);
      await store.chat(id, launch, () => ({ lines: [{ key: "init", text: "x\n" }], info }));
      await store.chat(id, launch, () => ({ answers: [{ key: "init", answer: "{}" }] }));
    }),
  );
  store.close();
}

/**
 * The floor: all events in the largest pages, then the client's own reducer. Ours: one response with the reduced
 * transcript. Both are sent as text over the socket and parsed, in turns, after one warm-up round.
 */
async function measureTranscript(): Promise<void> {
  const home = await makeHome(1);
  try {
    const session = await seedLongChat(home, transcriptEvents, transcriptTail);
    await using _daemon = await startDaemon(home);
    const [ours, floor, ourBytes, floorBytes]: number[][] = [[], [], [], []];
    for (let count = 0; count <= transcriptRounds; count++) {
      const replayed = await timed(() => replay(home, session));
      const opened = await timed(() => openReady(home, session));
      if (replayed.seq !== opened.seq) throw new Error(`${opened.seq} is not ${replayed.seq}`);
      if (count === 0) continue;
      floor!.push(replayed.ms);
      ours!.push(opened.ms);
      floorBytes!.push(replayed.bytes);
      ourBytes!.push(opened.bytes);
    }
    const what = `a transcript of ${transcriptEvents} events from its ready snapshot and ${transcriptTail} events behind it`;
    const figures = [
      { what: `${what}, time`, ours: ours!, floor: floor!, goal: goalTranscriptTime, unit: "Ms" },
      { what: `${what}, bytes`, ours: ourBytes!, floor: floorBytes!, goal: goalTranscriptBytes, unit: "Bytes" },
    ];
    for (const { what: name, ours: mine, floor: other, goal, unit } of figures) {
      const parts = mine.map((value, index) => value / other[index]!).toSorted((a, b) => a - b);
      const measured = round(parts[Math.floor(parts.length / 2)]!, 4);
      print({
        bench: "chat",
        what: name,
        measured,
        unit: "of a replay",
        ...atMost(measured, goal),
        spread: [round(parts[0]!, 4), round(parts.at(-1)!, 4)],
        [`ours${unit}`]: summarise(mine),
        [`replay${unit}`]: summarise(other),
        rounds: transcriptRounds,
      });
    }
  } finally {
    home.remove();
  }
}

interface Read {
  seq: number;
  bytes: number;
}

async function timed(read: () => Promise<Read>): Promise<Read & { ms: number }> {
  const begun = performance.now();
  const done = await read();
  return { ...done, ms: performance.now() - begun };
}

async function replay(home: BenchHome, session: string): Promise<Read> {
  const events: EventJson[] = [];
  let bytes = 0;
  for (;;) {
    const path = `/api/sessions/${session}/events?since=${events.at(-1)?.seq ?? 0}&limit=${replayPage}`;
    const text = await ask(home.paths.socket, path);
    bytes += Buffer.byteLength(text);
    const page = JSON.parse(text) as EventJson[];
    events.push(...page);
    if (page.length < replayPage) return { seq: transcriptOf(events).seq, bytes };
  }
}

async function openReady(home: BenchHome, session: string): Promise<Read> {
  const text = await ask(home.paths.socket, `/api/sessions/${session}/transcript`);
  const { seq } = builderOf(JSON.parse(text) as TranscriptPage).transcript();
  return { seq, bytes: Buffer.byteLength(text) };
}
