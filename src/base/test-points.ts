/**
 * Named steps that a test can wait for, pause at, fail at, or die at. Off unless HOLDFAST_TEST_POINTS names a directory;
 * then `<name>.pause`, `<name>.fail` or `<name>.kill` in it says what happens when the step is reached, and
 * `<name>.reached` is made for the test to wait for.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const directory = process.env["HOLDFAST_TEST_POINTS"];
const pollMs = 5;

/** The time. A file `clock` among the points puts so many milliseconds on top: a test does not wait for an idle hour. */
export const now: () => number = directory === undefined ? Date.now : () => Date.now() + ahead(directory);

function ahead(dir: string): number {
  const file = join(dir, "clock");
  return existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;
}

/** Names in use; a misspelt one in a test is then an error instead of a test that cannot fail. */
export function reach(name: string): Promise<void> | undefined {
  return directory === undefined ? undefined : act(directory, name);
}

async function act(dir: string, name: string): Promise<void> {
  const file = (suffix: string): string => join(dir, `${name}.${suffix}`);
  const wanted = (suffix: string): boolean => existsSync(file(suffix));
  const action = ["kill", "fail", "pause"].find(wanted);
  writeFileSync(file("reached"), String(process.pid));
  if (action === "kill") process.kill(process.pid, "SIGKILL");
  if (action === "fail") throw failure(name, readFileSync(file("fail"), "utf8").trim());
  if (action === "pause") while (wanted("pause")) await new Promise((resume) => setTimeout(resume, pollMs));
}

/** The file's text is the error code to fail with, such as ENOSPC. */
function failure(name: string, code: string): Error {
  return Object.assign(new Error(`test point ${name} failed${code === "" ? "" : `: ${code}`}`), { code });
}
