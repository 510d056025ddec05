import * as fc from "fast-check";
import { expect, test } from "vitest";
import { massDeath } from "./mass-death.ts";
import { decide } from "./decide.ts";
import { restOf } from "./runs.ts";
import { World, type LaunchOutcome, type Sight, type Sim } from "./test-world.ts";

type VerbName = Parameters<World["verb"]>[1]["verb"];
/** What is chosen at random: a verb, a bit of the daemon's work cut off anywhere, or something that befalls the world. */
type Step =
  | { step: "verb"; on: number; verb: VerbName }
  | { step: "daemon"; on: number; turns: number; diesAfter: number | null; meanwhile: VerbName | null; at: number }
  | { step: "agent"; on: number; does: "exits" | "crashes" | "vanishes" | "asks" | "goes on" | "answers" | "digs in" }
  | { step: "world"; does: "reboot" | "tmux dies" | "time"; ms: number }
  | { step: "sight"; on: number; sight: Exclude<Sight, "blind"> }
  | { step: "next launch"; on: number; outcome: LaunchOutcome };

const on = fc.nat({ max: 2 });
const verb = fc.oneof(
  { arbitrary: fc.constantFrom("prompt" as const), weight: 8 },
  { arbitrary: fc.constantFrom("stop" as const, "snooze", "wake", "archive", "unarchive", "kill"), weight: 6 },
  { arbitrary: fc.constantFrom("restore" as const), weight: 5 },
  { arbitrary: fc.constantFrom("delete" as const), weight: 1 },
);
const daemon = fc.record({
  step: fc.constant("daemon" as const),
  on,
  turns: fc.integer({ min: 1, max: 6 }),
  diesAfter: fc.oneof(fc.constant(null), fc.nat({ max: 12 })),
  at: fc.nat({ max: 4 }),
  meanwhile: fc.oneof({ arbitrary: fc.constant(null), weight: 4 }, { arbitrary: verb, weight: 1 }),
});
const aStep: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: daemon, weight: 12 },
  { arbitrary: fc.record({ step: fc.constant("verb" as const), on, verb }), weight: 4 },
  {
    arbitrary: fc.record({
      step: fc.constant("agent" as const),
      on,
      does: fc.constantFrom("exits", "crashes", "vanishes", "asks", "goes on", "answers", "digs in"),
    }),
    weight: 3,
  },
  {
    arbitrary: fc.record({
      step: fc.constant("world" as const),
      does: fc.constantFrom("reboot", "tmux dies", "time", "time"),
      ms: fc.constantFrom(10, 5_000, 120_000),
    }),
    weight: 1,
  },
  {
    arbitrary: fc.record({
      step: fc.constant("sight" as const),
      on,
      sight: fc.constantFrom("clear", "runtime-unknown", "disk-unknown"),
    }),
    weight: 2,
  },
  {
    arbitrary: fc.record({
      step: fc.constant("next launch" as const),
      on,
      outcome: fc.constantFrom("works", "works", "fails", "dies"),
    }),
    weight: 1,
  },
);

test("[CORE-10] [KILL-1] whatever happens and wherever the daemon dies: one agent at most, the killed stay ended, no work or prompt is lost or doubled, and it comes to rest", () => {
  fc.assert(
    fc.property(fc.array(aStep, { maxLength: 80, size: "max" }), fc.boolean(), (steps, canResume) => {
      const world = new World();
      world.spawn("terminal", canResume);
      world.spawn("chat", true);
      world.spawn("terminal", true);
      for (const step of steps) {
        take(world, step);
        for (const sim of world.sims) checkAlways(sim);
      }
      settle(world);
      for (const sim of world.sims) checkAlways(sim);
      expect(world.sims.map(faultAtRest)).toEqual(world.sims.map(() => null));
    }),
    { numRuns: 4_000 },
  );
});

function take(world: World, step: Step): void {
  const sim = "on" in step ? world.sims[step.on]! : world.sims[0]!;
  switch (step.step) {
    case "verb":
      return ask(world, sim, step.verb);
    case "daemon":
      return work(world, sim, step);
    case "agent":
      return agentDoes(world, sim, step.does);
    case "world":
      world.now += step.ms;
      if (step.does === "time") return;
      if (step.does === "reboot") world.boot++;
      world.tmuxServer = false;
      for (const each of world.sims) {
        if (step.does === "reboot" || each.state.kind === "terminal") each.processes = [];
        if (step.does === "reboot") each.making = false;
      }
      return;
    case "sight":
      sim.sight = step.sight;
      return;
    case "next launch":
      sim.nextLaunch = step.outcome;
      return;
    default:
      step satisfies never;
  }
}

function work(world: World, sim: Sim, { turns, diesAfter, meanwhile, at }: Extract<Step, { step: "daemon" }>): void {
  let count = 0;
  for (let left = turns; left > 0; left--) {
    for (const turn = world.turn(sim); turn.next().done !== true; count++) {
      // The generator is dropped here, as a SIGKILL drops everything that was not written down.
      if (count === diesAfter) return;
      if (count === at && meanwhile !== null) ask(world, sim, meanwhile);
    }
  }
}

function ask(world: World, sim: Sim, verb: VerbName): void {
  if (verb === "rename") return;
  world.verb(sim, verb === "snooze" ? { verb, until: world.now + 5_000 } : { verb });
}

function agentDoes(world: World, sim: Sim, does: Extract<Step, { step: "agent" }>["does"]): void {
  const process = sim.processes.find(({ alive }) => alive);
  if (process === undefined) return;
  switch (does) {
    case "exits":
      return void Object.assign(process, { alive: false, exit: { code: 0, signal: null } });
    case "crashes":
      return void Object.assign(process, { alive: false, exit: { code: 0, signal: "SIGSEGV" } });
    case "vanishes":
      sim.processes = [];
      return;
    case "asks":
      process.asking = true;
      return;
    case "goes on":
      process.asking = false;
      return;
    case "digs in":
      process.stubborn = 2;
      return;
    case "answers":
      return world.commit(sim, ({ turn }) =>
        turn.turn === "open" ? [{ type: "turn.ended", stopReason: "end_turn" }] : [],
      );
    default:
      does satisfies never;
  }
}

/** Everything can be seen again, agents answer, and the daemon works until there is nothing left to do. */
function settle(world: World): void {
  for (const sim of world.sims) Object.assign(sim, { sight: "clear" });
  for (let round = 0; round < 300; round++) {
    let acted = false;
    const waits: number[] = [];
    for (const sim of world.sims) {
      agentDoes(world, sim, "goes on");
      agentDoes(world, sim, "answers");
      const turn = world.turn(sim);
      let result = turn.next();
      while (result.done !== true) result = turn.next();
      if (result.value === "acted") acted = true;
      else if (result.value !== "quiet" && sim.state.intent.want !== "snoozed") waits.push(result.value.until);
    }
    if (!acted && waits.length === 0) return;
    if (!acted) world.now = Math.max(world.now, Math.min(...waits));
  }
  throw new Error("it does not come to rest");
}

function checkAlways(sim: Sim): void {
  const { id, intent } = sim.state;
  if (sim.over && intent.want !== "killed" && intent.want !== "deleted") throw new Error(`${id}: a kill was undone`);
  if (sim.processes.filter(({ alive }) => alive).length > 1) throw new Error(`${id}: two agents`);
  if (sim.worked && sim.disk.path !== "whole" && !sim.disk.trash) throw new Error(`${id}: worktree lost`);
  for (const [prompt, times] of sim.typed) if (times > 1) throw new Error(`${id}: ${prompt} sent ${times} times`);
}

/** What is wrong with a session that has come to rest, or null. */
function faultAtRest(sim: Sim): string | null {
  const { state } = sim;
  const { want } = state.intent;
  const living = sim.processes.filter(({ alive }) => alive);
  if (sim.making) return `${state.id}: ${want}, and its worktree is still being made`;
  if (want !== "running" && sim.processes.length > 0) return `${state.id}: ${want}, and something is left`;
  if (
    (want === "killed" || want === "deleted") &&
    (state.workspace.at === "ready" || state.workspace.at === "planned")
  ) {
    return `${state.id}: ${want}, and its worktree was not cleared away`;
  }
  const resting = restOf(state, true) !== null || state.workspace.at === "gone";
  if (want === "running" && !resting) {
    if (living.length !== 1 || state.run.run !== "up") return `${state.id}: wanted running, and is not`;
    if (state.queue.length > 0) return `${state.id}: a prompt was left waiting`;
    if (living[0]!.launch !== state.run.launch) return `${state.id}: not the launch on record`;
  } else if (living.length > 0) return `${state.id}: an agent runs that should not`;
  if (state.queue.some((prompt) => prompt.state === "sending")) return `${state.id}: a prompt was left half sent`;
  for (const event of sim.events) {
    if (event.type !== "prompt.admitted") continue;
    const count = (type: "prompt.sent" | "prompt.doubtful"): number =>
      sim.events.filter((other) => other.type === type && other.promptId === event.promptId).length;
    const receipts = count("prompt.sent");
    const waiting = state.queue.some((prompt) => prompt.promptId === event.promptId) ? 1 : 0;
    if (receipts + count("prompt.doubtful") + waiting !== 1)
      return `${state.id}: ${event.promptId} settled ${receipts} times`;
    if (receipts === 1 && sim.typed.get(event.promptId) !== 1) return `${state.id}: a false receipt`;
  }
  return null;
}

function boardOf(count: number): World {
  const world = new World();
  for (let index = 0; index < count; index++) world.spawn("terminal", true);
  settle(world);
  return world;
}

/** One pass over the board; returns the actions that were decided. */
function pass(world: World, previous: number | null): { lookAgainAt: number | null; dos: string[] } {
  const { lookAgainAt } = massDeath(
    world.sims.map((sim) => world.facts(sim)),
    world.now,
    previous,
  );
  const dos = world.sims.flatMap((sim) => decide(world.facts(sim, lookAgainAt), world.now).map((action) => action.do));
  return { lookAgainAt, dos };
}

test("[CORE-9] a board that cannot be seen for less than ten seconds loses and doubles nothing", () => {
  fc.assert(
    fc.property(fc.integer({ min: 5, max: 12 }), fc.integer({ min: 0, max: 9_999 }), (count, ms) => {
      const world = boardOf(count);
      const blind = Math.max(5, Math.floor(count / 2) + 1);
      for (const sim of world.sims.slice(0, blind)) sim.sight = "blind";
      const first = pass(world, null);
      expect(first.dos).toEqual(Array.from({ length: blind }, () => "wait"));
      world.now += ms;
      const second = pass(world, first.lookAgainAt);
      expect(second).toEqual({ lookAgainAt: first.lookAgainAt, dos: first.dos });
      for (const sim of world.sims) sim.sight = "clear";
      expect(pass(world, second.lookAgainAt)).toEqual({ lookAgainAt: null, dos: [] });
    }),
    { numRuns: 50 },
  );
});

test("[CORE-9] a board that is still gone after ten seconds is concluded", () => {
  const world = boardOf(6);
  for (const sim of world.sims) sim.sight = "blind";
  const first = pass(world, null);
  world.now += 10_000;
  expect(pass(world, first.lookAgainAt).dos).toEqual(Array.from({ length: 6 }, () => "record-end"));
});
