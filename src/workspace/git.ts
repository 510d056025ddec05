/**
 * The only caller of the git binary. Every call starts with the repository's hooks, fsmonitor and `ext::` remotes off,
 * because even `git status` runs what a hostile repository's configuration names. Filters differ from command to
 * command: see filters.ts and docs/decisions/0004-git-trust.md.
 */
import { spawn } from "node:child_process";
import { isExhausted, startChild, whyNotStarted } from "../base/start-child.ts";
import { withPersonalUmask } from "../base/umask.ts";
import { HoldfastError } from "../protocol/error.ts";
import { cleanEnvironment } from "./environment.ts";

export type ConfigEntry = readonly [key: string, value: string];

export interface GitCall {
  /** Where git looks for its repository from. */
  cwd?: string;
  /** A git directory given outright: no discovery, no work tree needed. */
  gitDir?: string;
  config?: readonly ConfigEntry[];
  env?: Record<string, string>;
  input?: string | Buffer;
  deadlineMs?: number;
  maxBytes?: number;
  /** Beyond `maxBytes` git is ended and what it printed until then is the answer, instead of an error. */
  cut?: true;
  /** `latin1` keeps file names that are not UTF-8 byte for byte. */
  encoding?: "utf8" | "latin1";
}

export interface GitAnswer {
  code: number;
  stdout: string;
  stderr: string;
  /** Whether it would have printed more than it was let. */
  cut?: true;
}

/** Long for a command that touches no files; a healthy one takes 3 ms. */
const quickDeadlineMs = 30_000;
/** A checkout of a very large repository on a slow disk. */
export const checkoutDeadlineMs = 15 * 60_000;
/** A status of a million files; more is a fault, and a bound keeps the daemon's memory its own. */
const maxOutputBytes = 256 * 1024 * 1024;
const maxErrorBytes = 64 * 1024;

/** Each of these would otherwise let a repository's own configuration start a program or wait for a person. */
const untrusting: readonly ConfigEntry[] = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["protocol.ext.allow", "never"],
  ["core.alternateRefsCommand", ""],
  ["log.showSignature", "false"],
  ["commit.gpgSign", "false"],
  ["submodule.recurse", "false"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  ["advice.detachedHead", "false"],
];

/** Runs git and returns what it said, whatever its exit code. Throws when it could not run or took too long. */
export async function runGit(args: readonly string[], call: GitCall = {}): Promise<GitAnswer> {
  const where = call.gitDir === undefined ? [] : [`--git-dir=${call.gitDir}`];
  const argv = ["--no-pager", ...where, ...args];
  const env = { ...gitEnvironment([...untrusting, ...(call.config ?? [])]), ...call.env };
  const options = { env, ...(call.cwd === undefined ? {} : { cwd: call.cwd }) };
  // A group of its own, so that the deadline ends git's children too.
  const begin = () =>
    withPersonalUmask(() => spawn("git", argv, { ...options, detached: true, stdio: ["pipe", "pipe", "pipe"] }));
  const child = await startChild(begin).catch((error: unknown) => {
    throw couldNotRun(error as NodeJS.ErrnoException, call.cwd);
  });
  return await new Promise<GitAnswer>((resolve, reject) => {
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    let outBytes = 0;
    let errBytes = 0;
    let ended: string | null = null;
    let isCut = false;
    const end = (why: string): void => {
      ended ??= why;
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {
        // Already gone.
      }
    };
    const deadlineMs = call.deadlineMs ?? quickDeadlineMs;
    const timer = setTimeout(() => end(`took longer than ${deadlineMs / 1000} s`), deadlineMs);
    child.stdout.on("data", (chunk: Buffer) => {
      outBytes += chunk.length;
      const over = outBytes - (call.maxBytes ?? maxOutputBytes);
      if (over > 0 && call.cut === true) {
        if (!isCut) out.push(chunk.subarray(0, chunk.length - over));
        isCut = true;
        end("");
      } else if (over > 0) end("printed more than expected");
      else out.push(chunk);
    });
    child.stderr.on("data", (chunk: Buffer) => {
      errBytes += chunk.length;
      if (errBytes <= maxErrorBytes) err.push(chunk);
    });
    // git may close its input before it has read everything; its exit code then says why.
    child.stdin.on("error", () => undefined);
    child.stdin.end(call.input ?? "");
    child.on("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      reject(couldNotRun(error, call.cwd));
    });
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      if (ended !== null && !isCut) {
        reject(new HoldfastError("storage", `git ${args[0]} ${ended} and was ended.`));
        return;
      }
      const stderr = Buffer.concat(err).toString("utf8");
      const stdout = Buffer.concat(out).toString(call.encoding ?? "utf8");
      if (isCut) return resolve({ code: 0, stdout, stderr, cut: true });
      resolve({ code: code ?? 128, stdout, stderr: signal === null ? stderr : `${stderr}ended by ${signal}` });
    });
  });
}

/** Runs git where only success is expected; its output, or an error that carries what git said. */
export async function git(args: readonly string[], call: GitCall = {}): Promise<string> {
  const answer = await runGit(args, call);
  if (answer.code === 0) return answer.stdout;
  throw gitFailed(args, answer.stderr);
}

/** As `git`, but null when git says no: for questions whose negative answer is an exit code. */
export async function askGit(args: readonly string[], call: GitCall = {}): Promise<string | null> {
  const answer = await runGit(args, call);
  return answer.code === 0 ? answer.stdout.trim() : null;
}

export function gitFailed(args: readonly string[], stderr: string): HoldfastError {
  const said = stderr.trim().split("\n").slice(-5).join("\n").trim();
  const verb = args.filter((arg) => !arg.startsWith("-")).slice(0, args[0] === "worktree" ? 2 : 1);
  const message = `git ${verb.join(" ")} failed: ${said === "" ? "no reason given" : said}`;
  if (stderr.includes("No space left on device")) {
    return new HoldfastError("disk-full", message, { hint: "Free some disk space and try again." });
  }
  if (stderr.includes("dubious ownership")) {
    return new HoldfastError("preflight-failed", message, { hint: "Add the repository to git's safe.directory." });
  }
  return new HoldfastError("storage", message);
}

const exhaustedHint = "It is tried again. See `ulimit -n` of the daemon, and close what you do not need.";

function couldNotRun(error: NodeJS.ErrnoException, cwd: string | undefined): HoldfastError {
  if (error.code === "ENOENT") {
    return new HoldfastError(
      "preflight-failed",
      `git could not be started${cwd === undefined ? "" : ` in ${cwd}`}: not found.`,
      { hint: "Install git 2.31 or newer, and check that the directory exists.", cause: error },
    );
  }
  const message = `git could not be started: ${whyNotStarted(error)}.`;
  return new HoldfastError("storage", message, {
    ...(isExhausted(error) ? { hint: exhaustedHint } : {}),
    cause: error,
  });
}

/** Through the environment rather than `-c`: a filter's name may hold `=`, and children of git inherit it. */
function gitEnvironment(config: readonly ConfigEntry[]): Record<string, string> {
  const env: Record<string, string> = {
    ...cleanEnvironment(),
    LC_ALL: "C",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "true",
    GIT_PAGER: "cat",
    GIT_EDITOR: "false",
    GIT_SEQUENCE_EDITOR: "false",
    // Reading must never write the index: an agent may be committing at this moment.
    GIT_OPTIONAL_LOCKS: "0",
    GIT_AUTHOR_NAME: "Holdfast",
    GIT_AUTHOR_EMAIL: "holdfast@localhost",
    GIT_COMMITTER_NAME: "Holdfast",
    GIT_COMMITTER_EMAIL: "holdfast@localhost",
    GIT_CONFIG_COUNT: String(config.length),
  };
  for (const [index, [key, value]] of config.entries()) {
    env[`GIT_CONFIG_KEY_${index}`] = key;
    env[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  return env;
}
