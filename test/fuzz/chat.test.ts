/**
 * Daemons killed at any moment, also while they start, under streaming agents and sending clients. HOLDFAST_TEST_SEED
 * repeats the choices of a run, HOLDFAST_TEST_KILLS makes it longer.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { readPids } from "../../src/chat/agent-files.ts";
import { ChatHome } from "../harness/chat.ts";
import { markedProcesses, type Marked } from "../harness/marked.ts";
import { until } from "../harness/until.ts";

const kills = Number(process.env["HOLDFAST_TEST_KILLS"] ?? 300);
const seed = Number(process.env["HOLDFAST_TEST_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
const agents = 5;
/** Queued or active prompts per session: enough that no agent ever runs dry. */
const ahead = 3;
/** A start takes about 120 ms: many die in it, most of the rest soon after. */
const longestStartMs = 160;
const longestLifeMs = 60;
/** One in this many lives long enough to send and read, however slow the machine is. */
const calmEvery = 5;
const calmMs = 150;
const ticks = 25;
const words = Array.from({ length: 12 }, (_, n) => `w${n}`).join(" ");

interface Sent {
  id: string;
  promptId: string;
  name: string;
  admitted: boolean;
}

test(
  `[CHAT-114] ${kills} random SIGKILLs of the daemon under ${agents} streaming agents: nothing lost, doubled, replaced or left over`,
  { timeout: 120_000 + kills * 1_000 },
  async () => {
    console.log(`Seed: HOLDFAST_TEST_SEED=${seed}`);
    const random = numbersFrom(seed);
    await using home = await ChatHome.open();
    const ids = await Promise.all(Array.from({ length: agents }, () => home.chat()));
    const before = await Promise.all(ids.map((id) => home.agent(id)));
    const processes = ids.map((id) => keptBy(home, id));
    const sent: Sent[] = [];
    await home.crash();

    let killed = 0;
    for (; killed < kills; killed++) {
      const daemon = startDaemon(home);
      const calm = killed % calmEvery === 0;
      const early = !calm && random() < 0.5;
      const started = early ? Promise.resolve() : daemon.ready;
      await started;
      const sending = early ? null : sendMore(home, ids, sent);
      if (calm) await sending;
      await delay(random() * (early ? longestStartMs : calm ? calmMs : longestLifeMs));
      daemon.child.kill("SIGKILL");
      await daemon.exited;
      await sending;
    }
    await home.ok(["start"]);

    for (const one of sent.filter(({ admitted }) => !admitted)) await send(home, one);
    for (const [at, id] of ids.entries()) {
      const expected = sent.filter((one) => one.id === id);
      // Between two turns it is idle, too.
      await until(
        `${id} to answer everything`,
        async () => {
          const { status, queued } = await home.show(id);
          return status === "idle" && queued === 0;
        },
        60_000,
      );
      const turns = await home.turns(id);
      expect(turns).toEqual(
        expected.map(({ promptId, name }) => ({ promptId, text: answerTo(name), stopReason: "end_turn" })),
      );
      expect((await home.ofType(id, "output.damaged")).length).toBe(0);
      expect(await home.agent(id)).toEqual(before[at]);
      expect((await home.turn(id, "history?")).text).toContain(`turns=${expected.length} `);
      await onlyThese(processes[at]!, () => home.tree(id));
    }
    const daemon = home.daemon().pid;
    await onlyThese([...processes.flat(), daemon], () => markedProcesses(`HOLDFAST_HOME=${home.home}`));
    console.log(`${killed} daemons killed, ${sent.length} turns of ${answerTo("x").length} characters each.`);
    expect(sent.length).toBeGreaterThan(agents);
  },
);

/** As the CLI starts one, from the build in the home: another copy would be another build, and its agents replaced. */
function startDaemon(home: ChatHome): { child: ChildProcess; ready: Promise<unknown>; exited: Promise<unknown> } {
  const [build] = readdirSync(home.paths.builds).filter((name) => !name.startsWith("."));
  const bundle = join(home.paths.builds, build!, "daemon.cjs");
  if (!existsSync(bundle)) throw new Error(`no daemon at ${bundle}`);
  const child = spawn(process.execPath, [bundle], {
    cwd: home.home,
    env: home.env,
    stdio: ["ignore", "ignore", "inherit", "pipe"],
  });
  const exited = once(child, "exit");
  return { child, exited, ready: Promise.race([exited, once(child.stdio[3]!, "data")]) };
}

/** Tops up each session's prompts; a prompt without a receipt is sent again with its id by the next call. */
async function sendMore(home: ChatHome, ids: string[], sent: Sent[]): Promise<void> {
  await Promise.allSettled(
    ids.map(async (id) => {
      for (const one of sent.filter((each) => each.id === id && !each.admitted)) await send(home, one);
      const { queued } = await home.show(id);
      for (let n = queued; n < ahead; n++) {
        const name = `${id}-${sent.filter((each) => each.id === id).length}`;
        const one = { id, promptId: `p-${name}`, name, admitted: false };
        sent.push(one);
        await send(home, one);
      }
    }),
  );
}

async function send(home: ChatHome, one: Sent): Promise<void> {
  await home.send(one.id, promptFor(one.name), { promptId: one.promptId, waitMs: 0 });
  one.admitted = true;
}

function promptFor(name: string): string {
  return `say: ${name} begins ${words}\nslow: ${ticks} x 4ms\nsay: ${name} ends`;
}

function answerTo(name: string): string {
  const counted = Array.from({ length: ticks }, (_, n) => `tick ${n + 1}/${ticks}\n`).join("");
  return `${name} begins ${words}\n${counted}${name} ends\n`;
}

function keptBy(home: ChatHome, id: string): number[] {
  const { keeper, feeder, watcher, agent } = readPids(home.launchDirectory(id));
  return [keeper, feeder, watcher, agent].map(Number);
}

/** Except the watcher's sleep, which is a new process each time; a process that forwards a line exits in a moment. */
async function onlyThese(lasting: number[], look: () => Marked[]): Promise<void> {
  await until("no other process", () => {
    const found = look().filter(({ what }) => !/^sleep \d+$/.test(what));
    const pids = new Set(found.map(({ pid }) => pid));
    if (pids.size === lasting.length && lasting.every((pid) => pids.has(pid))) return true;
    throw new Error(`${lasting.join(" ")} but ${JSON.stringify(found)}`);
  });
}

/** mulberry32: small, and the same everywhere. */
function numbersFrom(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
