/** Runs with few descriptors and prints what becomes of programs that it starts when none is left. */
import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { run, startChild } from "../../base/run.ts";
import { runCommands } from "../create/commands.ts";
import { runGit } from "./git.ts";

const messageOf = (error: unknown): string => (error as Error).message;
const begin = () => spawn("true", [], { stdio: ["pipe", "pipe", "pipe"] });
// Loads what a first start loads.
await runGit("read", ["version"]);
await run(["true"], { deadlineMs: 20_000 });
await startChild(begin);
const taken: number[] = [];
const take = (): void => {
  try {
    for (;;) taken.push(openSync("/dev/null", "r"));
  } catch {
    // All are taken.
  }
};
const free = (): void => taken.splice(0).forEach((descriptor) => closeSync(descriptor));

const where = { path: "/tmp", env: {}, output: () => undefined };
take();
const [started, git, command, ran] = await Promise.all([
  startChild(begin, { forMs: 100 }).then(() => "started", messageOf),
  runGit("read", ["version"]).then(() => "ran", messageOf),
  runCommands(["true"], where).then(() => "ran", messageOf),
  run(["true"], { deadlineMs: 100 }),
]);
setTimeout(free, 200);
const later = await runGit("read", ["version"]).then(({ code }) => code, messageOf);
free();
console.log(JSON.stringify({ started, git, command, ran, later }));
