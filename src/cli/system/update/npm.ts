/** Updates an npm installation in place: resolves the version, installs it and verifies the result. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { readJson } from "../../../base/durable-file.ts";
import { HoldfastError } from "../../../contract/errors.ts";
import { findProgram } from "../../../base/find-program.ts";
import { startChild } from "../../../base/run.ts";
import type { NpmInstallation } from "./installation.ts";
import { quoteShellWord } from "../../../model/text.ts";

export interface Spec {
  /** As passed to npm. */
  text: string;
  /** A tarball is always installed; a version only if it differs from the current one. */
  tarball: boolean;
}

/** npm recognizes a tarball by its file name. */
const tarballPattern = /\.(tgz|tar\.gz|tar)$/i;
/** A semantic version, a prefix of one, or a tag such as `latest`. */
const versionPattern = /^[A-Za-z0-9][A-Za-z0-9.+_-]*$/;

export function specOf(installation: NpmInstallation, from: string | undefined, cwd: string): Spec {
  if (from !== undefined && /^https?:\/\//.test(from)) return { text: from, tarball: true };
  if (from !== undefined && (tarballPattern.test(from) || from.includes("/"))) {
    const path = resolve(cwd, from);
    const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
    if (isFile && tarballPattern.test(path)) return { text: path, tarball: true };
    throw new HoldfastError("not-found", `There is no tarball ${path}.`, { hint: "Create one with npm pack." });
  }
  const version = from ?? "latest";
  if (!versionPattern.test(version)) {
    throw new HoldfastError("usage", `--from must be a tarball or a version, not ${JSON.stringify(version)}.`);
  }
  if (installation.unpublished) {
    throw new HoldfastError(
      "preflight-failed",
      "This build of Holdfast is not published, so npm cannot find another.",
      {
        hint: "Install from a tarball: holdfast update --from <tarball>",
      },
    );
  }
  return { text: `${installation.name}@${version}`, tarball: false };
}

export function installArguments(installation: NpmInstallation, spec: Spec): string[] {
  const scope = installation.scope === "global" ? ["--global"] : [];
  return ["install", ...scope, "--prefix", installation.prefix, "--no-audit", "--no-fund", "--", spec.text];
}

export interface RunContext {
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
export async function resolveSpec(
  npm: string,
  spec: Spec,
  runContext: RunContext,
): Promise<{ name: string; version: string }> {
  const args = ["pack", "--dry-run", "--json", "--ignore-scripts", "--", spec.text];
  const ran = await run(npm, args, runContext);
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

export async function install(npm: string, args: string[], runContext: RunContext): Promise<void> {
  const ran = await run(npm, args, runContext);
  if (ran.code !== 0) throw failed("npm install failed; the daemon and sessions keep running.", ran);
}

export interface Installed {
  version: string;
  build: string;
}

/** The installed version, if it runs and reports the expected version. */
export async function verifyInstalled(
  installation: NpmInstallation,
  expected: string,
  runContext: RunContext & { before: string },
): Promise<Installed> {
  const ran = await run(launcherOf(installation), ["--version"], { ...runContext, timeoutMs: answerDeadlineMs });
  const answer = ran.stdout.trim();
  const { build = expected } = readBuild(installation);
  if (ran.code === 0 && answer === expected) return { version: expected, build };
  const scope = installation.scope === "global" ? "--global " : "";
  const back = installation.unpublished
    ? "Reinstall the previous version from its tarball"
    : `Revert with: npm install ${scope}--prefix ${quoteShellWord(installation.prefix)} ${installation.name}@${runContext.before}`;
  const output = `${ran.stdout}${ran.stderr}`.trim().slice(-maxOutputChars);
  throw new HoldfastError(
    "launch-failed",
    `Holdfast ${expected} is installed but failed its check${output === "" ? "." : `:\n${output}`}`,
    { hint: `${back}. A running daemon still uses its own copy of the old version.` },
  );
}

export const launcherOf = ({ root }: NpmInstallation): string => join(root, "bin/holdfast");

function readBuild({ root }: NpmInstallation): { build?: string } {
  const read = readJson(join(root, "dist/build.json"));
  return read.is === "known" ? (read.value as { build?: string }) : {};
}

/** A first run on a cold disk takes a second. */
const answerDeadlineMs = 30_000;
const maxOutputChars = 2_000;

function failed(message: string, { stdout, stderr }: RunResult): HoldfastError {
  const output = (stderr.trim() === "" ? stdout : stderr).trim().slice(-maxOutputChars);
  return new HoldfastError("preflight-failed", output === "" ? message : `${message}\n${output}`);
}

interface RunResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

export async function run(
  program: string,
  args: string[],
  { env, cwd, timeoutMs }: RunContext & { timeoutMs?: number },
): Promise<RunResult> {
  const stdio: ["ignore", "pipe", "pipe"] = ["ignore", "pipe", "pipe"];
  const child = await startChild(() => spawn(program, args, { env, cwd, stdio, timeout: timeoutMs }));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code: child.exitCode, stdout, stderr };
}
