import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: ["src/**/*.test.ts", "test/architecture.test.ts", "test/model-server/*.test.ts"],
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
          pool: "forks",
          globalSetup: ["test/harness/census.ts"],
          // Longer than what they wait for: a test that starts forty commands takes a minute on two busy cores.
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
});
