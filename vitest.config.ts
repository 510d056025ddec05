import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: [
            "src/**/*.test.ts",
            "test/architecture.test.ts",
            "test/model-server/*.test.ts",
            "test/torture/*.test.ts",
          ],
          sequence: { groupOrder: 0 },
          pool: "threads",
          isolate: false,
          // Properties are tried on many inputs; a machine that is busy must not make them fail.
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: "process",
          include: ["test/e2e/**/*.test.ts", "test/browser/*.test.ts", "test/fuzz/**/*.test.ts", "src/**/*.ptest.ts"],
          // Behind the unit tests: vitest wants an order of projects with different numbers of workers.
          sequence: { groupOrder: 1 },
          pool: "forks",
          // These mostly wait for processes: fewer workers would leave a small machine idle.
          maxWorkers: 3,
          globalSetup: ["test/harness/census.ts"],
          // Each wait has its own deadline; this one must not fire first on a busy machine.
          testTimeout: 240_000,
          hookTimeout: 240_000,
        },
      },
    ],
  },
});
