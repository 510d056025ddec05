/** A repository registered with a running daemon, with a nearly free agent: `sleep`. */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { SessionJson } from "../../src/contract/session.ts";
import type { TrustJson } from "../../src/contract/project.ts";
import type { BenchHome } from "./home.ts";
import { ask } from "./processes.ts";

export interface BenchProject {
  id: string;
  repository: string;
}

const gitIdentity = ["-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0"];

/** Outside the home, like a user's repository. */
export function makeRepository(home: BenchHome, name: string, files: number): string {
  const path = join(dirname(home.paths.home), name);
  mkdirSync(path);
  git(home, path, "init", "--quiet", "--initial-branch=main");
  for (let index = 0; index < files; index++) {
    const folder = join(path, `d${index % 100}`);
    if (index < 100) mkdirSync(folder);
    writeFileSync(join(folder, `f${index}.txt`), `file ${index}\n`.repeat(20));
  }
  git(home, path, "add", "--all");
  git(home, path, "commit", "--quiet", "-m", "files");
  return path;
}

const sleeper = {
  agent: "sleeper",
  kind: "terminal",
  agents: { sleeper: { terminal: { command: ["sleep", "100000"] } } },
};

export async function addProject(
  home: BenchHome,
  repository: string,
  spareWorktrees: 0 | 1,
  { agent, kind, agents }: { agent: string; kind: string; agents: object } = sleeper,
): Promise<BenchProject> {
  const config = { defaults: { agent, kind, spareWorktrees }, agents };
  // JSON is YAML.
  writeFileSync(join(repository, "holdfast.yaml"), JSON.stringify(config));
  const [project] = JSON.parse(await ask(home.paths.socket, "/api/projects", { path: repository })) as { id: string }[];
  if (project === undefined) throw new Error(`${repository} was not registered`);
  const trust = `/api/projects/${project.id}/trust`;
  const { digest, parts } = JSON.parse(await ask(home.paths.socket, trust)) as TrustJson;
  if (parts.length > 0) await ask(home.paths.socket, trust, { digest, trust: true });
  return { id: project.id, repository };
}

export async function spawnSession(home: BenchHome, project: BenchProject): Promise<SessionJson> {
  return JSON.parse(await ask(home.paths.socket, "/api/sessions", { project: project.id })) as SessionJson;
}

export async function killSession(home: BenchHome, id: string): Promise<void> {
  await ask(home.paths.socket, `/api/sessions/${id}/kill`, {});
}

/** A hundred sessions on a busy machine do not stop within the time of one call. */
const haltAttempts = 8;

/** Stops every session of the home and the daemon, so that nothing outlives the benchmark. */
export async function haltAll(home: BenchHome): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const answer = await ask(home.paths.socket, "/api/daemon/stop", { haltSessions: true });
    const { remaining } = JSON.parse(answer) as { remaining: string[] };
    if (remaining.length === 0) break;
    if (attempt === haltAttempts) throw new Error(`still running: ${remaining.join(", ")}`);
  }
  rmSync(join("/tmp", `tmux-${process.getuid?.() ?? 0}`, home.paths.tmuxSocket), { force: true });
}

export function git(home: BenchHome, cwd: string, ...args: string[]): string {
  return execFileSync("git", [...gitIdentity, ...args], { cwd, env: home.env, encoding: "utf8", stdio: "pipe" });
}
