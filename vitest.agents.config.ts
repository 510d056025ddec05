import { defineConfig } from "vitest/config";

/** Real agents, one after the other: each takes up to a gigabyte and both cores while it starts. */
export default defineConfig({
  test: {
    name: "agents",
    include: ["test/agents-lane/**/*.test.ts"],
    pool: "forks",
    fileParallelism: false,
    globalSetup: ["test/harness/census.ts"],
    testTimeout: 300_000,
    hookTimeout: 60_000,
  },
});
