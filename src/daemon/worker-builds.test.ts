import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { AgentDefinition } from "../ports/agents.ts";
import { workerBuilds } from "./worker-builds.ts";

let directory: string;
beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), "builds-"))));
afterEach(() => rmSync(directory, { recursive: true }));

function agent(...command: string[]): AgentDefinition {
  const chat = { command, env: {}, notFound: [] };
  return { id: "a", label: "A", install: "", version: null, terminal: null, env: {}, chat };
}

test("[UPD-6] a worker's build changes with the bytes of our program, not with its time", () => {
  const file = join(directory, "agent.cjs");
  writeFileSync(file, "one");
  const before = workerBuilds("k")(agent(file));
  utimesSync(file, 1, 1);
  expect(workerBuilds("k")(agent(file))).toBe(before);
  writeFileSync(file, "two");
  expect(workerBuilds("k")(agent(file))).not.toBe(before);
});

test("[UPD-6] and with the keeper and the command", () => {
  const build = workerBuilds("k")(agent("sh", "-c", "x"));
  expect(workerBuilds("k")(agent("sh", "-c", "x"))).toBe(build);
  expect(workerBuilds("another")(agent("sh", "-c", "x"))).not.toBe(build);
  expect(workerBuilds("k")(agent("sh", "-c", "y"))).not.toBe(build);
});
