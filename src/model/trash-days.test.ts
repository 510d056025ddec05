import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isExpired, keptUntil, readSeenDays, seeTrash, type ClockReading, type SeenDays } from "./trash-days.ts";

const trashDays = 14;
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
/** Noon on a day in November. */
const noon = Date.UTC(2026, 10, 16, 12);

/** A machine with true time, and a clock that can be set. */
class Machine {
  seen: SeenDays | null = null;
  truth = 0;
  boots = 1;
  error = 0;
  gone: number | null = null;
  readonly dates = new Set<number>();
  #booted = 0;

  reading(): ClockReading {
    return { boot: `b${this.boots}`, up: this.truth - this.#booted, wall: noon + this.truth + this.error };
  }

  look(): void {
    const reading = this.reading();
    this.dates.add(Math.floor(reading.wall / day));
    this.seen = seeTrash(this.seen, reading, this.gone === null ? ["e"] : []);
    if (this.gone === null && isExpired(this.seen, reading, "e", trashDays)) this.gone = this.truth;
  }

  /** A daemon looks every `every`. */
  run(ms: number, every = 10 * minute): void {
    for (const end = this.truth + ms; this.truth < end; this.look()) this.truth += Math.min(every, end - this.truth);
  }

  /** Asleep, or without a daemon: what is known then comes from the store. */
  pass(ms: number): void {
    this.truth += ms;
    this.seen = readSeenDays(JSON.stringify(this.seen));
  }

  jump(ms: number): void {
    this.error += ms;
  }

  reboot(offFor: number, error = this.error): void {
    this.truth += offFor;
    this.#booted = this.truth;
    this.boots += 1;
    this.error = error;
  }

  until(): string {
    return keptUntil(this.seen, this.reading().wall, "e", trashDays);
  }
}

/** A look finds what is 14 days old; only then may it go. */
const days = (machine: Machine): number => machine.gone! / day;

describe("days in the trash", () => {
  test("[TRASH-8] a daemon that always runs empties after 14 days and on a later one", () => {
    const machine = new Machine();
    machine.look();
    expect(machine.until()).toBe("2026-12-01");
    machine.run(13 * day);
    expect(machine.until()).toBe("2026-12-01");
    machine.run(5 * day);
    expect(days(machine)).toBeGreaterThan(trashDays);
    expect(days(machine)).toBeLessThan(trashDays + 2);
  });

  test.each(["is switched off", "sleeps"])("[TRASH-8] two hours a day count as a day, and it %s in between", (rest) => {
    const machine = new Machine();
    for (let used = 0; used < 20 && machine.gone === null; used += 1) {
      // Not at the same hour every day.
      const off = (used % 2 === 0 ? 20 : 24) * hour;
      machine.run(2 * hour);
      if (rest === "sleeps") machine.pass(off);
      else machine.reboot(off);
    }
    expect(days(machine)).toBeGreaterThan(trashDays);
    expect(days(machine)).toBeLessThan(trashDays + 4);
  });

  test("[TRASH-9] a clock 30 days behind that is set right costs nothing", () => {
    const machine = new Machine();
    machine.jump(-30 * day);
    machine.run(hour);
    machine.jump(30 * day);
    machine.run(13 * day);
    expect(machine.gone).toBeNull();
    machine.run(5 * day);
    expect(days(machine)).toBeGreaterThan(trashDays);
  });

  test("[TRASH-9] a clock 20 days ahead for a minute or an hour, twice, costs nothing and delays nothing", () => {
    for (const ahead of [minute, hour]) {
      const machine = new Machine();
      machine.run(2 * day);
      for (let times = 0; times < 2; times += 1) {
        machine.jump(20 * day);
        machine.run(ahead, minute);
        machine.jump(-20 * day);
        machine.run(hour);
      }
      machine.run(14 * day - machine.truth);
      expect(machine.gone).toBeNull();
      machine.run(3 * day);
      expect(days(machine)).toBeGreaterThan(trashDays);
    }
  });

  test("[TRASH-9] a clock that is wrong after every boot and set right minutes later counts each day once", () => {
    const machine = new Machine();
    for (let used = 0; used < 20 && machine.gone === null; used += 1) {
      machine.run(15 * minute);
      machine.jump(-machine.error);
      machine.run(2 * hour);
      // A clock without a battery starts at the same time every time.
      machine.reboot(21 * hour, -1000 * day - machine.truth);
    }
    expect(days(machine)).toBeGreaterThan(trashDays);
    expect(days(machine)).toBeLessThan(trashDays + 4);
  });

  test("[TRASH-9] weeks asleep, switched off or without a daemon are one day", () => {
    for (const rest of ["pass", "reboot"] as const) {
      const machine = new Machine();
      machine.run(hour);
      machine[rest](30 * day);
      machine.run(12 * day);
      expect(machine.gone).toBeNull();
    }
  });

  test("[TRASH-10] a database from a backup, or without the count, starts no earlier than what it knows", () => {
    const machine = new Machine();
    machine.run(3 * day);
    const backup = machine.seen;
    machine.run(10 * day);
    machine.seen = backup;
    machine.run(10 * day);
    expect(machine.gone).toBeNull();
    machine.seen = readSeenDays('{"boot":"b1"}');
    expect(machine.seen).toBeNull();
    machine.run(14 * day);
    expect(machine.gone).toBeNull();
  });

  test("[TRASH-10] an entry that left the list and came back is counted from then on", () => {
    const machine = new Machine();
    machine.run(13 * day);
    machine.seen = seeTrash(machine.seen, machine.reading(), []);
    machine.run(13 * day);
    expect(machine.gone).toBeNull();
  });
});

const span = fc.oneof(fc.nat({ max: 3 * hour }), fc.nat({ max: 30 * hour }), fc.nat({ max: 40 * day }));
const jump = fc.oneof(
  span,
  span.map((ms) => -ms),
  fc.constantFrom(day, -day, 20 * day, -20 * day, 365 * day),
);
const every = fc.constantFrom(11 * minute, 50 * minute, 5 * hour);
const run = fc.tuple(fc.constant("run" as const), fc.nat({ max: 30 * hour }), every);
const rest = fc.tuple(fc.constant("pass" as const), span);
const set = fc.tuple(fc.constant("jump" as const), jump);
const reboot = fc.tuple(fc.constant("reboot" as const), span);
const reset = fc.tuple(fc.constant("reset" as const), jump);

type Step = readonly ["run", number, number] | readonly ["pass" | "jump" | "reboot" | "reset", number];

function live(steps: readonly Step[]): Machine {
  const machine = new Machine();
  machine.look();
  for (const [what, ms, each] of steps) {
    if (what === "run") machine.run(ms, each);
    if (what === "pass") machine.pass(ms);
    if (what === "jump") machine.jump(ms);
    if (what === "reboot") machine.reboot(ms);
    if (what === "reset") machine.reboot(0, ms);
    if (what !== "run") machine.look();
    if (machine.gone !== null) break;
  }
  return machine;
}

const lasting = { numRuns: 100 };
const many = { minLength: 15, maxLength: 40 };

describe("whatever the clock does", () => {
  test("[TRASH-9] in one boot no jumps, sleeps and restarts make 14 days shorter", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(run, rest, set), many), (steps) => {
        const machine = live(steps);
        if (machine.gone === null) return;
        expect(machine.gone).toBeGreaterThanOrEqual(trashDays * day);
        expect(machine.dates.size).toBeGreaterThan(trashDays);
      }),
      lasting,
    );
  });

  test("[TRASH-9] over reboots with a right clock 14 days are 14 days", () => {
    let expired = 0;
    fc.assert(
      fc.property(fc.array(fc.oneof(run, rest, reboot), many), (steps) => {
        const machine = live(steps);
        if (machine.gone === null) return;
        expired += 1;
        expect(machine.gone).toBeGreaterThanOrEqual(trashDays * day);
        expect(machine.dates.size).toBeGreaterThan(trashDays);
      }),
      lasting,
    );
    expect(expired).toBeGreaterThan(0);
  });

  test("[TRASH-9] whatever the clock shows after a boot, a boot is worth one day at most", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(run, rest, set, reboot, reset), many), (steps) => {
        const machine = live(steps);
        if (machine.gone === null) return;
        expect(machine.gone / day + machine.boots).toBeGreaterThanOrEqual(trashDays);
        expect(machine.dates.size).toBeGreaterThan(trashDays);
      }),
      lasting,
    );
  });

  test("[TRASH-11] an entry is never gone before the date that was named, with a right clock", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(run, rest, reboot), many), (steps) => {
        const machine = new Machine();
        machine.look();
        let named = machine.until();
        for (const [what, ms, each] of steps as Step[]) {
          if (what === "run") machine.run(ms, each);
          else if (what === "pass") machine.pass(ms);
          else machine.reboot(ms);
          machine.look();
          const today = new Date(machine.reading().wall).toISOString().slice(0, 10);
          const left = machine.gone === null ? null : new Date(noon + machine.gone).toISOString().slice(0, 10);
          expect((left ?? machine.until()) >= named && machine.until() >= today).toBe(true);
          if (left !== null) return;
          named = machine.until();
        }
      }),
      lasting,
    );
  });
});
