/**
 * Every pair of verbs, on every state a session can be in: the second one comes at each step of what the first one set
 * going, and the daemon dies there, or a few steps later, or not at all.
 */
import { expect, test } from "vitest";
import { verbNames, type Sim, type VerbName } from "./world-record.fixture.ts";
import { World } from "./world.fixture.ts";
import { agentDoes, checkAlways, faultAtRest, settle } from "./world-checks.fixture.ts";

const kinds = ["terminal", "chat"] as const;
const policies: ReadonlySet<VerbName> = new Set<VerbName>(["idle-stop", "end-snooze", "cleanup"]);
/** The daemon dies so many steps behind the second verb; null: it lives. */
const deaths = [null, 0, 1, 2, 4];

/** How a session got to where the pair begins. */
const beginnings: Record<string, (world: World, sim: Sim) => void> = {
  "just spawned": () => undefined,
  idle: (world, sim) => prompted(world, sim),
  "in a turn": (world, sim) => {
    prompted(world, sim);
    act(world, sim, "prompt");
    // Until it is sent: the agent has not answered.
    for (let turns = 0; turns < 3; turns++) for (const _step of world.turn(sim)) checkAlways(sim);
  },
  exited: (world, sim) => {
    prompted(world, sim);
    agentDoes(world, sim, "exits");
    settle(world);
  },
  "failed to start": (world, sim) => {
    sim.nextLaunch = "fails";
    settle(world);
    sim.nextLaunch = "works";
  },
  stopped: (world, sim) => ended(world, sim, "stop"),
  snoozed: (world, sim) => ended(world, sim, "snooze"),
  archived: (world, sim) => ended(world, sim, "archive"),
  killed: (world, sim) => ended(world, sim, "kill"),
};

function prompted(world: World, sim: Sim): void {
  act(world, sim, "prompt");
  settle(world);
}

function ended(world: World, sim: Sim, verb: VerbName): void {
  prompted(world, sim);
  act(world, sim, verb);
  settle(world);
}

function act(world: World, sim: Sim, verb: VerbName): void {
  world.verb(sim, world.plan(sim, verb));
}

interface Pair {
  kind: (typeof kinds)[number];
  beginning: string;
  first: VerbName;
  second: VerbName;
  /** The step of the first one's work at which the second one comes. */
  at: number;
  dies: number | null;
}

/** Says whether there was such a step; throws what went wrong. */
function play({ kind, beginning, first, second, at, dies }: Pair, where: { step: string }): boolean {
  const world = new World();
  world.spawn(kind, true);
  const sim = world.sims[0]!;
  beginnings[beginning]!(world, sim);
  // A policy looked before anything of this began, and writes only now.
  const stale = policies.has(second) ? world.plan(sim, second) : null;
  act(world, sim, first);
  const came = goOn(world, sim, at, dies, (step) => {
    where.step = step;
    world.verb(sim, stale ?? world.plan(sim, second));
  });
  settle(world);
  checkAlways(sim);
  const fault = faultAtRest(sim);
  if (fault !== null) throw new Error(fault);
  return came;
}

function goOn(world: World, sim: Sim, at: number, dies: number | null, second: (step: string) => void): boolean {
  let count = 0;
  for (let turns = 0; turns < 50; turns++) {
    const turn = world.turn(sim);
    let result = turn.next();
    for (; result.done !== true; result = turn.next(), count++) {
      if (count === at) second(result.value);
      checkAlways(sim);
      if (dies !== null && count === at + dies) {
        world.crash();
        return true;
      }
    }
    if (result.value !== "acted") break;
  }
  if (count <= at) second("at rest");
  return count > at;
}

test("[DECIDE-32] [SESSION-22] every pair of verbs, the second at each step of the first, with the daemon dying at each: the last word holds, and it comes to rest", () => {
  const faults: string[] = [];
  let played = 0;
  const beyond = (pair: Pair): boolean => {
    played++;
    const where = { step: "before the second" };
    try {
      return !play(pair, where);
    } catch (error) {
      const { first, second, kind, beginning, dies } = pair;
      const death = dies === null ? "" : `, the daemon died ${dies} steps later`;
      faults.push(`${first} × ${second} at ${where.step} (${kind}, ${beginning}${death}): ${(error as Error).message}`);
      return false;
    }
  };
  for (const kind of kinds)
    for (const beginning of Object.keys(beginnings))
      for (const first of verbNames)
        for (const second of verbNames)
          for (const dies of deaths)
            for (let at = 0; at < 40; at++) if (beyond({ kind, beginning, first, second, at, dies })) break;
  expect(faults.slice(0, 10)).toEqual([]);
  expect(played).toBeGreaterThan(50_000);
}, 120_000);
