import * as fc from "fast-check";
import { expect, test } from "vitest";
import { massDeath } from "./mass-death.ts";
import { decide } from "./decide.ts";
import { downReason } from "../model/runs.ts";
import type { LaunchOutcome, Sight, Sim, VerbName } from "./world-record.fixture.ts";
import { World } from "./world.fixture.ts";
import { agentDoes, checkAlways, faultAtRest, settle, type AgentDoes } from "./world-checks.fixture.ts";

/** What is chosen at random: a verb, a bit of the daemon's work cut off anywhere, or something that befalls the world. */
type Step =
  | { step: "verb"; on: number; verb: VerbName }
  | { step: "daemon"; on: number; turns: number; diesAfter: number | null; meanwhile: VerbName | null; at: number }
  | { step: "agent"; on: number; does: AgentDoes }
  | { step: "world"; does: "reboot" | "tmux dies" | "time"; ms: number }
  | { step: "sight"; on: number; sight: Exclude<Sight, "blind"> }
  | { step: "next launch"; on: number; outcome: LaunchOutcome }
  | { step: "record"; on: number; does: "keep" | "put back" };

const on = fc.nat({ max: 2 });
const verb = fc.oneof(
  { arbitrary: fc.constantFrom("prompt" as const), weight: 8 },
  { arbitrary: fc.constantFrom("stop" as const, "snooze", "wake", "archive", "unarchive", "kill"), weight: 6 },
  { arbitrary: fc.constantFrom("restore" as const), weight: 5 },
  { arbitrary: fc.constantFrom("convert" as const, "convert-fresh", "restart"), weight: 3 },
  { arbitrary: fc.constantFrom("idle-stop" as const, "halt", "cleanup"), weight: 2 },
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

test("[DECIDE-10] [SESSION-22] whatever happens and wherever the daemon dies: one agent at most, the killed stay ended, no work or prompt is lost or doubled, and it comes to rest", () => {
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

const recordStep = fc.record({
  step: fc.constant("record" as const),
  on,
  does: fc.constantFrom("keep" as const, "put back" as const),
});

test("[HOME-5] with a record that is older than the world: no agent is ended that it does not know, one at most runs, a worktree in the trash stays there, and it comes to rest", () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof({ arbitrary: aStep, weight: 6 }, { arbitrary: recordStep, weight: 1 }), {
        maxLength: 60,
        size: "max",
      }),
      (steps) => {
        const world = new World();
        world.spawn("terminal", false);
        world.spawn("chat", true);
        world.spawn("terminal", true);
        for (const step of steps) {
          take(world, step);
          // Prompts that were sent after the backup are not on record; whether they are sent again is not judged here.
          for (const sim of world.sims) checkAlways({ ...sim, typed: new Map() });
        }
        const endedSince = world.sims.filter(lostItsKill);
        settle(world);
        for (const sim of endedSince) expect([sim.state.intent.want, sim.disk.path]).toEqual(["killed", "none"]);
        // A worktree that an older record has as planned may be prepared again under its agent; that ends without us.
        for (const sim of world.sims) expect(faultAtRest({ ...sim, events: [], making: false })).toBeNull();
      },
    ),
    { numRuns: 4_000 },
  );
});

/** Wanted running by a record that is older than the move of its worktree to the trash. */
function lostItsKill({ state, disk, trashedBy, events, processes }: Sim): boolean {
  const due = state.intent.want === "running" && state.workspace.at === "ready" && downReason(state, true) === null;
  return (
    due &&
    disk.path === "none" &&
    disk.trash &&
    trashedBy !== null &&
    !events.includes(trashedBy) &&
    processes.length === 0
  );
}

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
    case "record":
      if (step.does === "keep") world.keepRecord(sim);
      else world.putRecordBack(sim);
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
      if (count === diesAfter) return world.crash();
      if (count === at && meanwhile !== null) ask(world, sim, meanwhile);
    }
  }
}

function ask(world: World, sim: Sim, verb: VerbName): void {
  world.verb(sim, world.plan(sim, verb));
}

function boardOf(count: number): World {
  const world = new World();
  for (let index = 0; index < count; index++) world.spawn("terminal", true);
  settle(world);
  return world;
}

/** One pass over the board; returns the actions that were decided. */
function pass(world: World, previous: number | null): { recheckAt: number | null; dos: string[] } {
  const { recheckAt } = massDeath(
    world.sims.map((sim) => world.facts(sim)),
    world.now,
    previous,
  );
  const dos = world.sims.flatMap((sim) => decide(world.facts(sim, recheckAt), world.now)?.do ?? []);
  return { recheckAt, dos };
}

test("[DECIDE-9] a board that cannot be seen for less than ten seconds loses and doubles nothing", () => {
  fc.assert(
    fc.property(fc.integer({ min: 5, max: 12 }), fc.integer({ min: 0, max: 9_999 }), (count, ms) => {
      const world = boardOf(count);
      const blind = Math.max(5, Math.floor(count / 2) + 1);
      for (const sim of world.sims.slice(0, blind)) sim.sight = "blind";
      const first = pass(world, null);
      expect(first.dos).toEqual(Array.from({ length: blind }, () => "wait"));
      world.now += ms;
      const second = pass(world, first.recheckAt);
      expect(second).toEqual({ recheckAt: first.recheckAt, dos: first.dos });
      for (const sim of world.sims) sim.sight = "clear";
      expect(pass(world, second.recheckAt)).toEqual({ recheckAt: null, dos: [] });
    }),
    { numRuns: 50 },
  );
});

test("[DECIDE-9] a board that is still gone after ten seconds is concluded", () => {
  const world = boardOf(6);
  for (const sim of world.sims) sim.sight = "blind";
  const first = pass(world, null);
  world.now += 10_000;
  expect(pass(world, first.recheckAt).dos).toEqual(Array.from({ length: 6 }, () => "record-end"));
});
