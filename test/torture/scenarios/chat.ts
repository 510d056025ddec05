/** Chat agents that count their output and input: each chunk once, each accepted prompt once, each stop reason true. */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { until } from "../../harness/until.ts";
import { unasked } from "../clients.ts";
import type { Run, Scenario } from "../report.ts";
import { storm } from "../storm.ts";
import { World } from "../world.ts";

const many = 4;
/** Prompts queued per agent: enough that none runs dry. */
const ahead = 3;
const stops = ["end_turn", "max_tokens", "refusal"];

interface Prompt {
  session: string;
  promptId: string;
  text: string;
  /** A receipt was read; without one the prompt may have arrived. */
  accepted: boolean;
}

export const chat: Scenario = {
  name: "chat",
  group: "storm",
  promise: "each chunk and each accepted prompt arrives once, with the true stop reason",
  share: 3,
  run: async (run) => {
    await using world = await World.open();
    const sessions = await Promise.all(Array.from({ length: many }, () => world.start("chat")));
    const before = await Promise.all(sessions.map((id) => world.agent(id)));
    const prompts: Prompt[] = [];
    await storm(run, world, { longestMs: 400, calmMs: 1_200 }, (signal) =>
      keepAsking(run, world, sessions, prompts, signal),
    );
    for (const [at, session] of sessions.entries()) {
      await finish(run, world, session, prompts);
      await compare(run, world, session, prompts);
      const now = await world.agent(session);
      run.check(
        now.pid === before[at]!.pid && now.startTime === before[at]!.startTime,
        "ended",
        `${session}: its agent was replaced`,
      );
    }
  },
};

async function keepAsking(
  run: Run,
  world: World,
  sessions: string[],
  prompts: Prompt[],
  signal: AbortSignal,
): Promise<void> {
  let tokens = 0;
  while (!signal.aborted) {
    await Promise.all(
      sessions.map(async (session) => {
        const accepted = prompts.filter((one) => one.session === session && one.accepted).length;
        const open = accepted - world.ledger.of(session, "turn").length;
        if (open >= ahead || signal.aborted) return;
        const token = `${session}#${tokens++}`;
        const chunks = Math.floor(run.random.between(5, 200));
        const text = `${token} chunks:${chunks} every:${run.random.pick([0, 1, 3])} stop:${run.random.pick(stops)}`;
        const prompt = { session, promptId: randomUUID(), text, accepted: false };
        prompts.push(prompt);
        if (await send(world, prompt)) run.count("prompts");
        else prompts.splice(prompts.indexOf(prompt), 1);
      }),
    );
    await delay(20);
  }
}

/** False if no daemon answered. */
async function send(world: World, prompt: Prompt): Promise<boolean> {
  const { session, promptId, text } = prompt;
  try {
    const receipt = await world.call("prompt", session, { body: { promptId, text, waitMs: 0 } });
    prompt.accepted = receipt.disposition !== "refused";
    return true;
  } catch (error) {
    // Interrupted: it may or may not have been accepted.
    return !unasked(error);
  }
}

async function finish(run: Run, world: World, session: string, prompts: Prompt[]): Promise<void> {
  // A retry with the same id is safe by contract; half of the interrupted ones are retried.
  for (const prompt of prompts.filter((one) => one.session === session && !one.accepted))
    if (run.random.chance(0.5)) await send(world, prompt);
  // A queue that makes progress gets all the time it needs: an hour leaves hundreds of prompts to retry.
  for (let before = -1; ;) {
    const now = await until(`${session} to answer`, progressOf(world, session, before), 60_000).catch(() => null);
    if (now === "idle") return;
    if (now === null) return run.bad("untrue", `${session} does not come to rest: ${before} turns ended`);
    before = now;
  }
}

/** `idle`, or the number of ended turns if it grew. */
function progressOf(world: World, session: string, before: number): () => Promise<"idle" | number | null> {
  return async () => {
    const { status, queued } = await world.show(session);
    if (status === "idle" && queued === 0) return "idle";
    const turns = world.ledger.of(session, "turn").length;
    return turns > before ? turns : null;
  };
}

async function compare(run: Run, world: World, session: string, prompts: Prompt[]): Promise<void> {
  const events = await world.events(session);
  const text = (type: string, field: string): string[] =>
    events.filter((event) => event.type === type).map((event) => String(event[field]));
  const emitted = world.ledger.of(session, "chunk").map(({ value }) => value ?? "");
  run.count("chunks", emitted.length);
  const said = text("agent.text", "text").join("");
  if (!run.check(said === emitted.join(""), "lost", `${session}: the record differs from what the agent emitted`)) {
    const recorded = said
      .split(" ")
      .filter((word) => word !== "")
      .map((word) => `${word} `);
    run.say(
      `${emitted.length} emitted, ${recorded.length} recorded, ${recorded.length - new Set(recorded).size} twice`,
    );
  }
  const received = world.ledger.of(session, "prompt").map(({ value }) => value ?? "");
  for (const prompt of prompts.filter((one) => one.session === session)) {
    const times = received.filter((one) => one === prompt.text).length;
    run.check(times <= 1, "doubled", `${session}: prompt ${prompt.promptId} arrived ${times} times`);
    if (prompt.accepted) run.check(times >= 1, "lost", `${session}: accepted prompt ${prompt.promptId} never arrived`);
  }
  const recordedReasons = text("turn.ended", "stopReason");
  const agents = world.ledger.of(session, "turn").map(({ value }) => value ?? "");
  run.check(
    JSON.stringify(recordedReasons) === JSON.stringify(agents),
    "untrue",
    `${session}: stop reasons ${recordedReasons.slice(-5).join()} but the agent's were ${agents.slice(-5).join()} (${recordedReasons.length} and ${agents.length})`,
  );
  run.check(
    events.every((event, at) => event.seq === at + 1),
    "lost",
    `${session}: its events have a gap`,
  );
}
