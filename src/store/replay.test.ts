import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { FactEvent } from "../contract/event.ts";
import { asLaunchId, asPromptId, asSessionId, type SessionId } from "../contract/ids.ts";
import { reduce } from "../model/reduce.ts";
import type { SessionState } from "../model/session.ts";
import type { Store } from "../ports/store.ts";
import { admitted, created, eventOf, intent, makeHome, output, renamed } from "./store.fixture.ts";

const ids = ["ma-1", "ma-2", "ma-3"].map(asSessionId);
const prompt = fc.constantFrom("p1", "p2", "p3").map(asPromptId);
const text = fc.string({ unit: "binary", maxLength: 8 });
const launch = asLaunchId("l1");

const event: fc.Arbitrary<FactEvent> = fc.oneof(
  text.map(output),
  text.map(renamed),
  fc.constantFrom("running", "stopped", "archived", "killed", "deleted").map((want) => intent(want as "running")),
  fc.tuple(prompt, fc.constantFrom("x", "y")).map(([id, words]) => admitted(id, words)),
  prompt.map((promptId) => ({ type: "prompt.sending" as const, promptId, launch })),
  prompt.map((promptId) => ({ type: "prompt.sent" as const, promptId, seenBy: "screen" })),
  fc.nat(3).map((attempt) => ({ type: "launch.started" as const, launch, how: "resume" as const, attempt })),
  fc.array(text, { maxLength: 2 }).map((lastLines) => ({
    type: "run.ended" as const,
    launch,
    how: "crash" as const,
    exit: { code: null, signal: "SIGKILL" },
    uptimeMs: null,
    lastLines,
  })),
);

type Step =
  | { do: "create"; id: SessionId }
  | { do: "purge"; id: SessionId }
  | { do: "change"; id: SessionId; events: FactEvent[]; refuse: boolean }
  | { do: "settle" };

const id = fc.constantFrom(...ids);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant("create" as const), id }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("change" as const),
      id,
      events: fc.array(event, { maxLength: 12 }),
      refuse: fc.nat(9).map((n) => n === 0),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("purge" as const), id }) },
  { weight: 2, arbitrary: fc.constant({ do: "settle" as const }) },
);

it.each([
  [":memory:", 120],
  ["a file", 25],
] as const)("[STORE-1] whatever happens, the states are the fold of gapless events (%s)", async (where, numRuns) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const home = makeHome(where);
      const store = home.open();
      await run(store, steps);
      const states = fold(store);
      expect([...store.sessions(), ...store.deleting()].toSorted(byId)).toEqual(states);
      expect(store.verify()).toEqual([]);
      if (where === ":memory:") return store.close();
      const log = store.log(0, 10_000);
      store.close();
      const again = home.open();
      expect([...again.sessions(), ...again.deleting()].toSorted(byId)).toEqual(states);
      expect(again.log(0, 10_000)).toEqual(log);
      again.close();
    }),
    { numRuns },
  );
});

async function run(store: Store, steps: readonly Step[]): Promise<void> {
  let waiting: Promise<unknown>[] = [];
  for (const each of steps) {
    if (each.do === "settle") {
      await Promise.allSettled(waiting);
      waiting = [];
    } else if (each.do === "create") waiting.push(store.create(created(each.id)));
    else if (each.do === "purge") waiting.push(store.purgeDeleted(each.id));
    else {
      waiting.push(
        store.commit(each.id, () => {
          if (each.refuse) throw new Error("refused");
          return each.events;
        }),
      );
    }
  }
  await Promise.allSettled(waiting);
}

/** From the log alone; the reducer throws on a gap. */
function fold(store: Store): SessionState[] {
  const states = new Map<SessionId, SessionState>();
  let cursor = 0;
  for (const entry of store.log(0, 10_000)) {
    expect(entry.cursor).toBeGreaterThan(cursor);
    cursor = entry.cursor;
    states.set(entry.session, reduce(states.get(entry.session) ?? null, eventOf(entry)));
  }
  for (const id of states.keys()) expect(store.events(id, 0, 10_000).at(-1)?.seq).toBe(states.get(id)?.seq);
  return [...states.values()].toSorted(byId);
}

function byId(a: SessionState, b: SessionState): number {
  return a.id < b.id ? -1 : 1;
}
