import { defineConfig } from "vitest/config";

const delivery = "test/agents-lane/delivery.test.ts";
const common = {
  pool: "forks" as const,
  globalSetup: ["test/harness/census.ts"],
  testTimeout: 600_000,
  // Four agents are ended one after the other.
  hookTimeout: 300_000,
};

/** Real agents: each uses as much as a gigabyte, and a core while it starts. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...common,
          name: "agents",
          include: ["test/agents-lane/**/*.test.ts"],
          exclude: [delivery],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      // Alone: it starts four agents at once.
      { test: { ...common, name: "delivery", include: [delivery], maxWorkers: 1, sequence: { groupOrder: 1 } } },
    ],
  },
});
