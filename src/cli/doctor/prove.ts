/**
 * A self-test in a scratch directory of everything a session needs: a worktree, a tmux session that outlives its starter,
 * a socket. Everything is removed afterwards; the tmux server is its own.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeDurable } from "../../base/durable-file.ts";
import { messageOf } from "../../contract/errors.ts";
import { type Finding, finding } from "./finding.ts";

const deadlineMs = 10_000;

export async function prove(env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-prove-"));
  const proofs: [string, string, (directory: string, env: NodeJS.ProcessEnv) => void | Promise<void>][] = [
    ["write", "A file was written durably.", (at) => writeDurable(join(at, "file"), "text")],
    ["socket", "A unix socket was opened.", openSocket],
    ["worktree", "A git worktree was created.", makeWorktree],
    ["tmux", "A tmux session was started, found and stopped.", runTmux],
  ];
  const findings: Finding[] = [];
  try {
    for (const [name, message, act] of proofs) {
      const startedAt = performance.now();
      try {
        await act(directory, env);
        findings.push(finding(`proof ${name}`, "ok", `${message} (${Math.round(performance.now() - startedAt)} ms)`));
      } catch (error) {
        findings.push(finding(`proof ${name}`, "fail", messageOf(error).trim()));
      }
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  return findings;
}

function openSocket(directory: string): Promise<void> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(join(directory, "s"), () => server.close(() => resolve()));
  });
}

function makeWorktree(directory: string, env: NodeJS.ProcessEnv): void {
  const repository = join(directory, "repository");
  const git = (...args: string[]): void => run("git", args, env);
  git("init", "--quiet", "--initial-branch=main", repository);
  const author = ["-c", "user.name=Holdfast", "-c", "user.email=holdfast@localhost", "-c", "commit.gpgsign=false"];
  git("-C", repository, ...author, "commit", "--quiet", "--allow-empty", "--no-verify", "-m", "first");
  git("-C", repository, "worktree", "add", "--quiet", "-b", "proof", join(directory, "worktree"));
}

function runTmux(directory: string, env: NodeJS.ProcessEnv): void {
  const { TMUX: _outer, ...clean } = env;
  const server = ["-S", join(directory, "t"), "-f", "/dev/null"];
  run("tmux", [...server, "new-session", "-d", "-s", "proof", "cat"], clean);
  try {
    run("tmux", [...server, "has-session", "-t", "=proof"], clean);
  } finally {
    // The server exits with its only session.
    run("tmux", [...server, "kill-session", "-t", "=proof"], clean);
  }
}

function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv): void {
  execFileSync(program, args, { env, timeout: deadlineMs, stdio: ["ignore", "ignore", "pipe"] });
}
