/**
 * Named steps where a test can wait, pause, fail or crash the process. Off unless HOLDFAST_TEST_POINTS names a
 * directory; there `<name>.pause`, `<name>.fail` or `<name>.kill` decides what happens at the step. `<name>.reached` is
 * created for the test to wait for, and `<name>.<about>.reached` if the step belongs to something. HOLDFAST_TEST_CLOCK
 * names a file with milliseconds to add to the time of day, read at every call.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const directory = process.env["HOLDFAST_TEST_POINTS"];
const pollMs = 5;

const clock = process.env["HOLDFAST_TEST_CLOCK"];
if (clock !== undefined) {
  const { now } = Date;
  Date.now = () => now() + Number(readFileSync(clock, "utf8"));
}

export function reach(name: string, about?: string): Promise<void> | undefined {
  return directory === undefined ? undefined : act(directory, name, about);
}

/** Like `reach`, in synchronous code: only `kill` works. */
export function reachNow(name: string): void {
  if (directory === undefined || !existsSync(join(directory, `${name}.kill`))) return;
  writeFileSync(join(directory, `${name}.reached`), String(process.pid));
  process.kill(process.pid, "SIGKILL");
}

async function act(dir: string, name: string, about: string | undefined): Promise<void> {
  const file = (suffix: string): string => join(dir, `${name}.${suffix}`);
  const wanted = (suffix: string): boolean => existsSync(file(suffix));
  const action = ["kill", "fail", "pause"].find(wanted);
  writeFileSync(file("reached"), String(process.pid));
  if (about !== undefined) writeFileSync(file(`${about}.reached`), String(process.pid));
  if (action === "kill") process.kill(process.pid, "SIGKILL");
  if (action === "fail") throw failure(name, readFileSync(file("fail"), "utf8").trim());
  if (action === "pause") while (wanted("pause")) await new Promise((resume) => setTimeout(resume, pollMs));
}

/** The file's text is the error code to fail with, such as ENOSPC. */
function failure(name: string, code: string): Error {
  return Object.assign(new Error(`test point ${name} failed${code === "" ? "" : `: ${code}`}`), { code });
}
