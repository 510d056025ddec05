/**
 * Prompts for terminal agents that start slowly, under daemon kills, stops and relaunches: `delivered` only if the agent's
 * own ledger has it, none twice, none joined to another one, none lost silently.
 */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { until } from "../../harness/until.ts";
import { unasked } from "../clients.ts";
import { Random } from "../random.ts";
import type { Run, Scenario } from "../report.ts";
import { storm } from "../storm.ts";
import { World } from "../world.ts";

const many = 3;
const longestStartMs = 3_500;
/** Long enough for a slow start and a confirmation on a busy machine. */
const receiptMs = 20_000;
/** Longer than a prompt waits for its confirmation, with a slow start before it. */
const stuckMs = 90_000;
/** Queued prompts at most, so that a storm ends soon after its time. */
const ahead = 3;

interface Prompt {
  session: string;
  promptId: string;
  text: string;
  /** The receipt, or null if there was none. */
  disposition: string | null;
}

export const terminal: Scenario = {
  name: "terminal",
  group: "storm",
  promise: "a terminal prompt is delivered once, when the agent is ready, and its receipt is true",
  share: 3,
  run: async (run) => {
    await using world = await slowWorld(run.random);
    const prompts: Prompt[] = [];
    const sessions: string[] = [];
    for (let n = 0; n < many; n++) sessions.push(await world.start("terminal", "claude"));
    await storm(run, world, { longestMs: 1_500, calmMs: 6_000, early: 0.2 }, async (signal) => {
      await Promise.all(
        sessions.map((session) => {
          const random = new Random(Math.floor(run.random.next() * 2 ** 31), session);
          return keepSending(run, world, { session, random, prompts }, signal);
        }),
      );
    });
    for (const session of sessions) await compare(run, world, session, prompts);
  },
};

/** A world whose `claude` is the slow agent; the file `slow` contains the duration of its next start. */
export async function slowWorld(random: Random): Promise<World> {
  const world = new World();
  const bin = join(world.directory, "bin");
  mkdirSync(bin);
  const agent = join(import.meta.dirname, "../agents/slow-terminal.ts");
  // Agents do not receive the variables of the shell that started the daemon.
  const variables = `export TORTURE_SLOW="${world.directory}" TORTURE_LEDGER="${world.ledger.path}"`;
  writeFileSync(join(bin, "claude"), `#!/bin/sh\n${variables}\nexec "${process.execPath}" "${agent}" "$@"\n`);
  chmodSync(join(bin, "claude"), 0o755);
  world.env["PATH"] = `${bin}:${world.env["PATH"]}`;
  nextStart(world, random);
  try {
    await world.begin();
  } catch (error) {
    await world[Symbol.asyncDispose]().catch(() => undefined);
    throw error;
  }
  return world;
}

function nextStart(world: World, random: Random): void {
  setStart(world, Math.floor(random.between(50, longestStartMs)));
}

/** How long the next start takes. */
export function setStart(world: World, ms: number): void {
  writeFileSync(join(world.directory, "slow"), String(ms));
}

interface Sender {
  session: string;
  random: Random;
  prompts: Prompt[];
}

/** Empty if no daemon answers. */
async function queued(world: World, session: string): Promise<number> {
  return world.show(session).then(
    ({ queued }) => queued,
    () => 0,
  );
}

async function keepSending(run: Run, world: World, self: Sender, signal: AbortSignal): Promise<void> {
  const { session, random, prompts } = self;
  for (let n = 0; !signal.aborted; n++) {
    if ((await queued(world, session)) >= ahead) {
      await delay(random.between(10, 400));
      continue;
    }
    // A stop makes the next prompt start the agent: it must wait for the input line.
    if (random.chance(0.3)) {
      nextStart(world, random);
      await world.call("stop", session, { body: { wait: random.chance(0.5) } }).catch(() => undefined);
    }
    const promptId = `${session}-t${n}`;
    const text = `${promptId} ${"word ".repeat(Math.floor(random.between(1, 30)))}end-${promptId}`;
    const prompt: Prompt = { session, promptId, text, disposition: null };
    prompts.push(prompt);
    try {
      const waitMs = random.pick([0, receiptMs]);
      prompt.disposition = (await world.call("prompt", session, { body: { promptId, text, waitMs } })).disposition;
      run.count("prompts");
    } catch (error) {
      if (unasked(error)) prompts.splice(prompts.indexOf(prompt), 1);
      else run.count("prompts");
    }
    await delay(random.between(10, 400));
  }
}

/** Waits until the queue is empty; a queue that makes progress gets all the time it needs. */
async function drain(run: Run, world: World, session: string): Promise<void> {
  // A stop may have been a client's last request: prompts queued before it wait for a start.
  if ((await world.show(session)).intent.want !== "running") await world.call("restore", session, { body: {} });
  const waiting = async (): Promise<string[]> =>
    (await world.call("queue", session)).prompts
      .filter(({ state }) => state === "queued" || state === "sending")
      .map(({ promptId, state }) => `${promptId} ${state}`);
  for (let before = await waiting(); before.length > 0;) {
    const now = await until("the queue to move", moved(waiting, before), stuckMs).catch(() => null);
    if (now === null) {
      const { status, reason } = await world.show(session);
      run.bad("untrue", `${session} (${status}: ${reason}): its queue does not move: ${before.join(", ")}`);
      return;
    }
    before = now;
  }
}

function moved(waiting: () => Promise<string[]>, before: string[]): () => Promise<string[] | null> {
  return async () => {
    const now = await waiting();
    return now.join() === before.join() ? null : now;
  };
}

async function compare(run: Run, world: World, session: string, prompts: Prompt[]): Promise<void> {
  await drain(run, world, session);
  const events = await world.events(session);
  const received = world.ledger.of(session, "prompt").map(({ value }) => value ?? "");
  const own = prompts.filter((one) => one.session === session);
  const record = (promptId: string): string[] =>
    events.filter((event) => event["promptId"] === promptId).map(({ type }) => type);
  for (const { promptId, text, disposition } of own) {
    const times = received.filter((one) => one === text).length;
    const history = record(promptId);
    run.check(times <= 1, "doubled", `${promptId} arrived ${times} times`);
    const claimed = disposition === "delivered" || history.includes("prompt.sent");
    if (claimed)
      run.check(
        times === 1,
        "untrue",
        `${promptId}: delivered (${disposition}; ${history.join(" ")}), but the agent never received it`,
      );
    const doubted = history.some((type) => /doubtful|unconfirmed|refused|withdrawn/.test(type));
    if (disposition !== null && disposition !== "refused" && !claimed)
      run.check(
        times === 1 || doubted,
        "lost",
        `${promptId}: ${disposition}, then ${history.join(" ")}, never received`,
      );
  }
  const known = new Set(own.map(({ text }) => text));
  for (const text of received)
    run.check(
      known.has(text),
      "doubled",
      `${session} received what no client sent, or two prompts as one: ${JSON.stringify(text.slice(0, 160))}`,
    );
}
