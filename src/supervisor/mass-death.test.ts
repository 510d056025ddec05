import { describe, expect, test } from "vitest";
import type { SessionFacts } from "../model/facts.ts";
import { looksDead, massDeath } from "./mass-death.ts";
import {
  absent,
  alive,
  aliveOther,
  created,
  dead,
  ended,
  factsOf,
  fold,
  intent,
  ready,
  started,
  t0,
  unknown,
  up,
} from "./facts.fixture.ts";

const now = t0;
const session = fold([created, ready, started, up]);
const gone = factsOf(session);
const living = factsOf(session, { runtime: alive() });
const proven = (absence: NonNullable<SessionFacts["absence"]>): SessionFacts => factsOf(session, { absence });
const board = (deaths: number, lives: number, death = gone): SessionFacts[] => [
  ...Array.from({ length: deaths }, () => death),
  ...Array.from({ length: lives }, () => living),
];
const quiet = { recheckAt: null, tripped: false };

describe("[DECIDE-9] mass death without a proven cause is looked at again", () => {
  test("five of nine trip it, for ten seconds", () => {
    expect(massDeath(board(5, 4), now, null)).toEqual({ recheckAt: now + 10_000, tripped: true });
  });

  test("four of four and five of ten do not", () => {
    expect(massDeath(board(4, 0), now, null)).toEqual(quiet);
    expect(massDeath(board(5, 5), now, null)).toEqual(quiet);
  });

  test.each(["other-boot", "no-server", "identity-gone"] as const)("a proven cause (%s) does not", (absence) => {
    expect(massDeath(board(9, 0, proven(absence)), now, null)).toEqual(quiet);
  });

  test("what is not wanted running, or not expected to live, does not count", () => {
    const killed = factsOf(fold([created, ready, started, up, intent({ want: "killed" })]));
    const down = factsOf(fold([created, ready, started, up, ended("own-exit")]));
    expect(massDeath(board(9, 0, killed), now, null)).toEqual(quiet);
    expect(massDeath(board(9, 0, down), now, null)).toEqual(quiet);
    expect(massDeath([...board(5, 4), ...board(20, 0, down)], now, null).tripped).toBe(true);
  });

  test("the time is kept over further passes, and the second look concludes", () => {
    const { recheckAt } = massDeath(board(6, 0), now, null);
    expect(massDeath(board(6, 0), now + 5_000, recheckAt)).toEqual({ recheckAt, tripped: false });
    expect(massDeath(board(6, 0), now + 10_000, recheckAt)).toEqual({ recheckAt, tripped: false });
  });

  test("a board that came back forgets it, and may trip it anew", () => {
    expect(massDeath(board(0, 6), now + 5_000, now + 10_000)).toEqual(quiet);
    expect(massDeath(board(6, 0), now + 60_000, null)).toEqual({ recheckAt: now + 70_000, tripped: true });
  });

  test("a clock that was set back does not stretch the wait", () => {
    expect(massDeath(board(6, 0), now - 3_600_000, now + 10_000).recheckAt).toBe(now - 3_590_000);
  });
});

test.each([
  ["absent", factsOf(session), true],
  ["absent, proven", proven("no-server"), false],
  ["unknown", factsOf(session, { runtime: unknown }), false],
  ["alive", living, false],
  ["another launch", factsOf(session, { runtime: aliveOther }), false],
  ["dead without a status", factsOf(session, { runtime: dead(null) }), true],
  ["dead with a status", factsOf(session, { runtime: dead({ code: 0, signal: null }) }), false],
  ["never launched", factsOf(fold([created, ready]), { runtime: absent }), false],
])("[DECIDE-9] looks dead, unproven: %s", (_title, facts, answer) => {
  expect(looksDead(facts)).toBe(answer);
});
