/**
 * Named steps that a test can wait for, pause at, fail at, or die at. Off unless HOLDFAST_TEST_POINTS names a directory;
 * then `<name>.pause`, `<name>.fail` or `<name>.kill` in it says what happens when the step is reached, and
 * `<name>.reached` is made for the test to wait for, and `<name>.<about>.reached` where the step says whose it is. HOLDFAST_TEST_CLOCK names a file whose number of milliseconds is added
 * to the time of day, now and at every later look.
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

/** Names in use; a misspelt one in a test is then an error instead of a test that cannot fail. */
export function reach(name: string, about?: string): Promise<void> | undefined {
  return directory === undefined ? undefined : act(directory, name, about);
}

/** As `reach`, for a step inside synchronous code: it can only be died at. */
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
