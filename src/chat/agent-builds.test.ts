import { chmodSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { settledBuildMs } from "../model/runs.ts";
import { agentBuilds, type AgentCommand } from "./agent-builds.ts";

let directory: string;
let clock: number;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "builds-"));
  clock = 1_000;
});
afterEach(() => rmSync(directory, { recursive: true }));

const command = (...argv: string[]): AgentCommand => ({ argv, path: `${directory}:/usr/bin:/bin` });
const open = (keeper = "k") => agentBuilds(keeper, () => clock);
const program = (name: string, text: string): string => {
  const file = join(directory, name);
  writeFileSync(file, text);
  chmodSync(file, 0o755);
  return file;
};
/** Looks as often as the loop does. */
const staleAfter = (builds: ReturnType<typeof open>, of: AgentCommand, recorded: string, ms: number): boolean => {
  for (const end = clock + ms; clock < end; clock += 1_000) builds.isStale(of, recorded);
  return builds.isStale(of, recorded);
};

test("[CLI-73] a worker's build changes with the bytes of our program, not with its time", () => {
  const file = program("agent.cjs", "one");
  const before = open().of(command(file));
  utimesSync(file, 1, 1);
  expect(open().of(command(file))).toBe(before);
  program("agent.cjs", "two");
  expect(open().of(command(file))).not.toBe(before);
});

test("[CLI-73] and with the keeper and the command", () => {
  const build = open().of(command("sh", "-c", "x"));
  expect(open().of(command("sh", "-c", "x"))).toBe(build);
  expect(open("another").of(command("sh", "-c", "x"))).not.toBe(build);
  expect(open().of(command("sh", "-c", "y"))).not.toBe(build);
});

test("[CLI-69] a program that is missing is not another build, however long", () => {
  const agent = command("agent");
  const file = program("agent", "#!/bin/sh\n");
  const builds = open();
  const recorded = builds.of(agent);
  rmSync(file);
  expect(staleAfter(builds, agent, recorded, 60_000)).toBe(false);
  program("agent", "#!/bin/sh\n# newer\n");
  expect(staleAfter(builds, agent, recorded, settledBuildMs - 2_000)).toBe(false);
  expect(staleAfter(builds, agent, recorded, settledBuildMs + 2_000)).toBe(true);
});

test("[CLI-70] a script that is missing when the next daemon starts is not another build", () => {
  const script = program("agent.cjs", "one");
  const agent = command("sh", script);
  const recorded = open().of(agent);
  rmSync(script);
  expect(staleAfter(open(), { ...agent, files: [script] }, recorded, 60_000)).toBe(false);
  program("agent.cjs", "two");
  expect(staleAfter(open(), { ...agent, files: [script] }, recorded, settledBuildMs + 2_000)).toBe(true);
});

test("[CLI-69] a new program counts once it has been the same for some seconds", () => {
  const agent = command("agent");
  program("agent", "#!/bin/sh\n");
  const builds = open();
  const recorded = builds.of(agent);
  for (const text of ["1", "22", "333", "4444"]) {
    program("agent", `#!/bin/sh\n# ${text}\n`);
    expect(staleAfter(builds, agent, recorded, settledBuildMs - 2_000)).toBe(false);
  }
  expect(staleAfter(builds, agent, recorded, settledBuildMs + 2_000)).toBe(true);
});

test("[CLI-69] a script without its interpreter, and a file that the command names, are missing too", () => {
  const interpreter = program("its-node", "#!/bin/sh\n");
  program("agent", "#!/usr/bin/env its-node\n");
  const script = program("script.js", "x");
  mkdirSync(join(directory, "empty"));
  for (const [of, needed] of [
    [command("agent"), interpreter],
    [command("sh", script), script],
  ] as const) {
    const builds = open();
    const recorded = builds.of(of);
    rmSync(needed);
    expect(staleAfter(builds, of, recorded, 60_000)).toBe(false);
  }
});

test("[CLI-69] a daemon whose PATH does not have the program replaces nothing", () => {
  program("agent", "#!/bin/sh\n");
  const recorded = open().of(command("agent"));
  const elsewhere = { argv: ["agent"], path: "/usr/bin:/bin" };
  expect(staleAfter(open(), elsewhere, recorded, 60_000)).toBe(false);
});

test("[CLI-69] an agent whose entry no longer has a command for chats replaces nothing", () => {
  program("agent", "#!/bin/sh\n");
  const builds = open();
  const recorded = builds.of(command("agent"));
  expect(staleAfter(builds, command(), recorded, 60_000)).toBe(false);
});
