import { expect, test } from "vitest";
import { Coordinator, type CoordinatorOptions } from "./coordinator.ts";

/** Runs that end when the test says so. */
function harness(options: Partial<CoordinatorOptions<string>> = {}) {
  const log: string[] = [];
  const ends: (() => void)[] = [];
  const coordinator = new Coordinator<string>({
    run: async (key) => {
      log.push(`run ${key}`);
      await new Promise<void>((resolve) => ends.push(resolve));
      log.push(`end ${key}`);
    },
    onError: (key, error) => log.push(`${key} failed: ${String(error)}`),
    onSettled: (key) => log.push(`settled ${key}`),
    ...options,
  });
  /** Ends the oldest run and waits until it took effect. */
  const end = async (): Promise<void> => {
    ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { coordinator, log, end };
}

test("a wake starts a run immediately, and keys run side by side", async () => {
  const { coordinator, log, end } = harness();
  const first = coordinator.wake("a");
  void coordinator.wake("b");
  expect(log).toEqual(["run a", "run b"]);
  expect(coordinator.isRunning("a")).toBe(true);
  await end();
  await first;
  expect(coordinator.isRunning("a")).toBe(false);
  expect(log).toEqual(["run a", "run b", "end a", "settled a"]);
});

test("any number of wakes during a run lead to one more run, which all of them wait for", async () => {
  const { coordinator, log, end } = harness();
  const waits = [coordinator.wake("a"), coordinator.wake("a"), coordinator.wake("a")];
  let settled = 0;
  for (const wait of waits) void wait.then(() => settled++);
  await end();
  expect(log).toEqual(["run a", "end a", "run a"]);
  expect(settled).toBe(0);
  await end();
  expect(log).toEqual(["run a", "end a", "run a", "end a", "settled a"]);
  expect(settled).toBe(3);
});

test("a failed run is reported once, its waiters go on, and a wake during it still leads to a run", async () => {
  let runs = 0;
  const { coordinator, log } = harness({
    run: async () => {
      if (++runs === 1) throw new Error("planted");
    },
  });
  await Promise.all([coordinator.wake("a"), coordinator.wake("a")]);
  expect(runs).toBe(2);
  expect(log).toEqual(["a failed: Error: planted", "settled a"]);
  await coordinator.wake("a");
  expect(runs).toBe(3);
});

test("a run that wakes its own key runs once more and never beside itself", async () => {
  let runs = 0;
  let atOnce = 0;
  const { coordinator } = harness({
    run: async () => {
      expect(++atOnce).toBe(1);
      if (++runs < 3) void coordinator.wake("a");
      await Promise.resolve();
      atOnce--;
    },
  });
  await coordinator.wake("a");
  expect(runs).toBe(3);
});

test("a wake at the moment a run settles is not lost", async () => {
  let runs = 0;
  const { coordinator, log } = harness({
    run: async () => void runs++,
    onSettled: () => {
      if (runs === 1) void coordinator.wake("a");
    },
  });
  await coordinator.wake("a");
  await new Promise((resolve) => setImmediate(resolve));
  expect(runs).toBe(2);
  expect(log).toEqual([]);
});

test("a close waits for the runs under way within its grace, and starts none", async () => {
  const { coordinator, log, end } = harness();
  void coordinator.wake("a");
  void coordinator.wake("a");
  await coordinator.close(1);
  expect(log).toEqual(["run a"]);
  const closed = coordinator.close(60_000);
  await end();
  await closed;
  await coordinator.wake("b");
  expect(log).toEqual(["run a", "end a", "settled a"]);
});
