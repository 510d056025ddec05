/**
 * The only caller of the git binary. A call's kind decides what git may run (git-rules.ts); the repository comes from
 * our own record (record.ts), never from a file that an agent can write.
 */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { isExhausted, startChild, whyNotStarted } from "../../base/run.ts";
import { withPersonalUmask } from "../../base/program.ts";
import { HoldfastError } from "../../contract/errors.ts";
import { repositoryHooksOff, gitEnvironment, type ConfigEntry, type GitKind } from "./git-rules.ts";
import type { Worktree } from "../record.ts";

/** The null id, as long as this repository's ids. `known`: any of its ids, to avoid asking git. */
export async function nullId(call: GitCall, known: string | null = null): Promise<string> {
  return "0".repeat(known?.length ?? (await idLength(call)));
}

export async function idLength(call: GitCall): Promise<number> {
  return (await askGit("read", ["rev-parse", "--show-object-format"], call)) === "sha256" ? 64 : 40;
}

export const isNullId = (id: string): boolean => /^0+$/.test(id);

/** Where git works; without any of these, in no repository. */
interface Where {
  /** A repository's own directory, without files. */
  gitDir?: string;
  /** The files of a work tree, with the repository's own git directory. */
  workTree?: string;
  /** A session's worktree with its files. */
  worktree?: Worktree;
  /** A session's worktree without its files, which may be elsewhere. */
  admin?: Worktree;
  /** git finds the repository on its own: only if nothing but you or Holdfast wrote `.git`. */
  discover?: string;
}

export interface GitCall extends Where {
  config?: readonly ConfigEntry[];
  env?: Record<string, string>;
  input?: string | Buffer;
  /** An open file for git to read, instead of `input`. */
  inputFile?: number;
  deadlineMs?: number;
  maxBytes?: number;
  /** Beyond `maxBytes`, git is killed and its output so far returned, instead of an error. */
  cut?: true;
  /** `latin1` preserves file names that are not UTF-8. */
  encoding?: "utf8" | "latin1";
}

export interface GitResult {
  code: number;
  stdout: string;
  stderr: string;
  /** Whether the output was cut at `maxBytes`. */
  cut?: true;
}

type Child = ChildProcessByStdio<Writable | null, Readable, Readable>;

/** Long for a command that touches no files; a healthy one takes 3 ms. */
const quickDeadlineMs = 30_000;
/** A checkout of a very large repository on a slow disk. */
export const checkoutDeadlineMs = 15 * 60_000;
/** A status of a million files; the limit protects the daemon's memory. */
const maxOutputBytes = 256 * 1024 * 1024;
const maxErrorBytes = 64 * 1024;

/** Runs git and returns its output, whatever its exit code. Throws if it cannot run or times out. */
export async function runGit(kind: GitKind, args: readonly string[], call: GitCall = {}): Promise<GitResult> {
  const where = locate(call);
  const argv = ["--no-pager", ...where.args, ...args];
  const off = kind === "write" ? await repositoryHooksOff(call, runGit) : [];
  const env = { ...gitEnvironment(kind, [...(call.config ?? []), ...off]), ...where.env, ...call.env };
  const options = { env, cwd: where.cwd };
  // A separate process group: the deadline kills git's children too.
  const begin = () =>
    withPersonalUmask(
      () =>
        spawn("git", argv, { ...options, detached: true, stdio: [call.inputFile ?? "pipe", "pipe", "pipe"] }) as Child,
    );
  const child = await startChild(begin).catch((error: unknown) => {
    throw couldNotRun(error as NodeJS.ErrnoException, where.cwd);
  });
  return await new Promise<GitResult>((resolve, reject) => {
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
        // Already exited.
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
    // git may close its input early; its exit code then gives the reason.
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(call.input ?? "");
    child.on("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      reject(couldNotRun(error, where.cwd));
    });
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      if (ended !== null && !isCut) {
        reject(new HoldfastError("storage", `git ${args[0]} ${ended} and was killed.`));
        return;
      }
      const stderr = Buffer.concat(err).toString("utf8");
      const stdout = Buffer.concat(out).toString(call.encoding ?? "utf8");
      if (isCut) return resolve({ code: 0, stdout, stderr, cut: true });
      resolve({ code: code ?? 128, stdout, stderr: signal === null ? stderr : `${stderr}ended by ${signal}` });
    });
  });
}

/** Runs git and returns its output; a failure throws with git's message. */
export async function git(kind: GitKind, args: readonly string[], call: GitCall = {}): Promise<string> {
  const answer = await runGit(kind, args, call);
  if (answer.code === 0) return answer.stdout;
  throw gitFailed(args, answer.stderr);
}

/** Like `git`, but null if it fails: for questions that git answers with an exit code. */
export async function askGit(kind: GitKind, args: readonly string[], call: GitCall = {}): Promise<string | null> {
  const answer = await runGit(kind, args, call);
  return answer.code === 0 ? answer.stdout.trim() : null;
}

/** The commit that a name stands for; null if it does not exist. */
export async function commitOf(name: string, call: GitCall): Promise<string | null> {
  return await askGit("read", ["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`], call);
}

export function gitFailed(args: readonly string[], stderr: string): HoldfastError {
  const reason = stderr.trim().split("\n").slice(-5).join("\n").trim();
  const verb = args.filter((arg) => !arg.startsWith("-")).slice(0, args[0] === "worktree" ? 2 : 1);
  const message = `git ${verb.join(" ")} failed: ${reason === "" ? "no reason given" : reason}`;
  if (stderr.includes("No space left on device")) {
    return new HoldfastError("disk-full", message, { hint: "Free some disk space and try again." });
  }
  if (stderr.includes("dubious ownership")) {
    return new HoldfastError("preflight-failed", message, { hint: "Add the repository to git's safe.directory." });
  }
  return new HoldfastError("storage", message);
}

const exhaustedHint = "Holdfast will retry. Check the daemon's `ulimit -n`, and close unneeded programs.";

function couldNotRun(error: NodeJS.ErrnoException, cwd: string | undefined): HoldfastError {
  if (error.code === "ENOENT") {
    return new HoldfastError(
      "preflight-failed",
      `git cannot start${cwd === undefined ? "" : ` in ${cwd}`}: not found.`,
      { hint: "Install git 2.31 or newer, and check that the directory exists.", cause: error },
    );
  }
  const message = `git cannot start: ${whyNotStarted(error)}.`;
  return new HoldfastError("storage", message, {
    ...(isExhausted(error) ? { hint: exhaustedHint } : {}),
    cause: error,
  });
}

interface Located {
  args: string[];
  cwd: string;
  env: Record<string, string>;
}

/** Exists everywhere, and is not a repository. */
const nowhere = "/";

function locate({ gitDir, workTree, worktree, admin, discover }: Where): Located {
  const of = worktree ?? admin;
  if (of !== undefined) {
    const files = worktree === undefined ? [] : [`--work-tree=${of.path}`];
    const cwd = worktree === undefined ? nowhere : of.path;
    return { args: [`--git-dir=${of.admin}`, ...files], cwd, env: { GIT_COMMON_DIR: of.commonDir, ...objectsOf(of) } };
  }
  if (gitDir === undefined) return { args: [], cwd: discover ?? nowhere, env: {} };
  const files = workTree === undefined ? [] : [`--work-tree=${workTree}`];
  return { args: [`--git-dir=${gitDir}`, ...files], cwd: workTree ?? nowhere, env: {} };
}

/** Further directories for git to read objects from. */
export function objectsOf({ objects }: Pick<Worktree, "objects">): Record<string, string> {
  return objects === null ? {} : { GIT_ALTERNATE_OBJECT_DIRECTORIES: quoteInList(objects) };
}

/** The list is separated by colons; git unquotes a path in double quotes. */
export function quoteInList(path: string): string {
  if (!path.includes(":") && !path.startsWith('"')) return path;
  return `"${path.replaceAll(/[\\"]/g, String.raw`\$&`)}"`;
}
