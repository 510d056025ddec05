import { defineConfig } from "vitest/config";

/** Real agents, one after the other: each takes up to a gigabyte and both cores while it starts. */
export default defineConfig({
  test: {
    name: "agents",
    include: ["test/agents-lane/**/*.test.ts"],
    pool: "forks",
    fileParallelism: false,
    globalSetup: ["test/harness/census.ts"],
    testTimeout: 600_000,
    // Four agents are ended one after the other.
    hookTimeout: 300_000,
  },
});
