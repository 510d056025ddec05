/** What npm is asked for an update: which version a name or tarball means, and to put it where the old one is. */
import { spawn } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { HoldfastError } from "../../../contract/error.ts";
import { findProgram } from "../../../base/find-program.ts";
import { startChild } from "../../../base/run.ts";
import type { NpmPlace } from "./installation.ts";
import { quoteShellWord } from "../../../model/text.ts";

export interface Spec {
  /** As npm takes it. */
  text: string;
  /** A tarball is installed whatever its version; a version only where it is another one. */
  tarball: boolean;
}

/** npm takes a path for a tarball by its name alone. */
const tarballPattern = /\.(tgz|tar\.gz|tar)$/i;
/** A semantic version, the beginning of one, or a tag such as `latest`. */
const versionPattern = /^[A-Za-z0-9][A-Za-z0-9.+_-]*$/;

export function specOf(place: NpmPlace, from: string | undefined, cwd: string): Spec {
  if (from !== undefined && /^https?:\/\//.test(from)) return { text: from, tarball: true };
  if (from !== undefined && (tarballPattern.test(from) || from.includes("/"))) {
    const path = resolve(cwd, from);
    const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
    if (isFile && tarballPattern.test(path)) return { text: path, tarball: true };
    throw new HoldfastError("not-found", `There is no tarball ${path}.`, { hint: "npm pack makes one." });
  }
  const version = from ?? "latest";
  if (!versionPattern.test(version)) {
    throw new HoldfastError("usage", `--from takes a tarball or a version, not ${JSON.stringify(version)}.`);
  }
  if (place.unpublished) {
    throw new HoldfastError(
      "preflight-failed",
      "This build of Holdfast is not published, so npm cannot find another.",
      {
        hint: "Give it a packed one: holdfast update --from <tarball>",
      },
    );
  }
  return { text: `${place.name}@${version}`, tarball: false };
}

export function installArguments(place: NpmPlace, spec: Spec): string[] {
  const scope = place.scope === "global" ? ["--global"] : [];
  return ["install", ...scope, "--prefix", place.prefix, "--no-audit", "--no-fund", "--", spec.text];
}

export interface Surroundings {
  env: NodeJS.ProcessEnv;
  cwd: string;
}

export function requireNpm(env: NodeJS.ProcessEnv): string {
  const npm = findProgram("npm", env["PATH"]);
  if (npm !== null) return npm;
  throw new HoldfastError("preflight-failed", "npm is not on PATH.", {
    hint: "Install Node with npm, or update Holdfast the way it was installed.",
  });
}

/** The name and version behind a spec; nothing is installed. */
export async function lookUp(
  npm: string,
  spec: Spec,
  surroundings: Surroundings,
): Promise<{ name: string; version: string }> {
  const args = ["pack", "--dry-run", "--json", "--ignore-scripts", "--", spec.text];
  const ran = await run(npm, args, surroundings);
  if (ran.code === 0) {
    const found = readPacked(ran.stdout);
    if (found !== null) return found;
  }
  throw failed(`npm cannot find ${spec.text}; nothing was changed.`, ran);
}

export function readPacked(stdout: string): { name: string; version: string } | null {
  try {
    const [first] = Object.values(JSON.parse(stdout) as Record<string, { name?: unknown; version?: unknown }>);
    const { name, version } = first ?? {};
    return typeof name === "string" && typeof version === "string" ? { name, version } : null;
  } catch {
    return null;
  }
}

export async function install(npm: string, args: string[], surroundings: Surroundings): Promise<void> {
  const ran = await run(npm, args, surroundings);
  if (ran.code !== 0) throw failed("npm could not install it; what is running keeps running.", ran);
}

export interface Installed {
  version: string;
  build: string;
}

/** What lies there now, if it answers with the version that was wanted. */
export async function verifyInstalled(
  place: NpmPlace,
  wanted: string,
  surroundings: Surroundings & { before: string },
): Promise<Installed> {
  const ran = await run(launcherOf(place), ["--version"], { ...surroundings, timeoutMs: answerDeadlineMs });
  const answer = ran.stdout.trim();
  const { build = wanted } = readBuild(place);
  if (ran.code === 0 && answer === wanted) return { version: wanted, build };
  const scope = place.scope === "global" ? "--global " : "";
  const back = place.unpublished
    ? "Install the one before again from its tarball"
    : `Go back with: npm install ${scope}--prefix ${quoteShellWord(place.prefix)} ${place.name}@${surroundings.before}`;
  const said = `${ran.stdout}${ran.stderr}`.trim().slice(-maxSaidChars);
  throw new HoldfastError(
    "launch-failed",
    `Holdfast ${wanted} is installed, but does not answer as it should${said === "" ? "." : `:\n${said}`}`,
    { hint: `${back}. The daemon, if it runs, still runs the old one from a copy of its own.` },
  );
}

export const launcherOf = ({ root }: NpmPlace): string => join(root, "bin/holdfast");

function readBuild({ root }: NpmPlace): { build?: string } {
  try {
    return JSON.parse(readFileSync(join(root, "dist/build.json"), "utf8")) as { build?: string };
  } catch {
    return {};
  }
}

/** A first run on a cold disk takes a second. */
const answerDeadlineMs = 30_000;
const maxSaidChars = 2_000;

function failed(message: string, { stdout, stderr }: Ran): HoldfastError {
  const words = (stderr.trim() === "" ? stdout : stderr).trim().slice(-maxSaidChars);
  return new HoldfastError("preflight-failed", words === "" ? message : `${message}\n${words}`);
}

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

export async function run(
  program: string,
  args: string[],
  { env, cwd, timeoutMs }: Surroundings & { timeoutMs?: number },
): Promise<Ran> {
  const child = await startChild(() =>
    spawn(program, args, { env, cwd, stdio: ["ignore", "pipe", "pipe"], timeout: timeoutMs }),
  );
  return await new Promise((settle, reject) => {
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => void (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => void (stderr += text));
    child.once("error", reject);
    child.once("close", (code) => settle({ code, stdout, stderr }));
  });
}
