/** A home with many sessions, written by the store itself; none of them runs. Linux and macOS. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defaultLaunchOptions } from "../../src/base/launch-options.ts";
import { resolvePaths, type Paths } from "../../src/base/paths.ts";
import { applyVerb } from "../../src/model/lifecycle.ts";
import type { Judged } from "../../src/contract/event.ts";
import { asLaunchId, asProjectId, asSessionId } from "../../src/contract/ids.ts";
import type { SessionState } from "../../src/model/session.ts";
import { openStore } from "../../src/store/open.ts";

export const root = join(import.meta.dirname, "../..");
export const daemonBundle = join(root, "dist/daemon.cjs");
export const launcher = join(root, "bin/holdfast");

export interface BenchHome {
  paths: Paths;
  env: Record<string, string>;
  remove(): void;
}

/**
 * Short, because the path of the daemon's socket is limited to 107 bytes. Use another one, such as /dev/shm, if the disk
 * makes figures vary.
 */
const parent = process.env["HOLDFAST_BENCH_DIR"] ?? "/tmp";

export async function makeHome(sessions: number): Promise<BenchHome> {
  const directory = realpathSync(mkdtempSync(join(parent, "hf-bench-")));
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: join(directory, "user"),
    LANG: "C.UTF-8",
    HOLDFAST_HOME: join(directory, "h"),
  };
  const paths = resolvePaths(env);
  for (const path of [env.HOME, paths.home, paths.logs, paths.run]) mkdirSync(path, { recursive: true, mode: 0o700 });
  const launch = { ...defaultLaunchOptions, port: 0, portGiven: true };
  writeFileSync(paths.launchFile, JSON.stringify(launch), { mode: 0o600 });
  if (sessions > 0) await seed(paths, join(directory, "app"), sessions);
  return { paths, env, remove: () => rmSync(directory, { recursive: true, force: true }) };
}

/** Sessions that ran, were stopped by the user, and have their worktree: all are listed, none is launched. */
async function seed(paths: Paths, repository: string, sessions: number): Promise<void> {
  for (const name of ["objects", "refs/heads"]) mkdirSync(join(repository, ".git", name), { recursive: true });
  writeFileSync(join(repository, ".git/HEAD"), "ref: refs/heads/main\n");
  const store = openStore({
    path: paths.database,
    backupsDirectory: paths.backups,
    reservePath: paths.reserve,
    now: Date.now,
  });
  try {
    const project = asProjectId("app");
    await store.putProject({ id: project, path: repository, prefix: "app", configFile: null, addedAt: Date.now() });
    const numbers = Array.from({ length: sessions }, (_, index) => index + 1);
    await Promise.all(
      numbers.map(async (number) => {
        const id = asSessionId(`app-${number}`);
        const workspacePath = join(paths.worktrees, "app", id);
        makeWorktree(repository, workspacePath, id);
        const place = { branch: id, branchCreated: true, base: "main" };
        await store.create(
          {
            type: "session.created",
            id,
            project,
            kind: "terminal",
            role: "worker",
            agent: "demo",
            title: `Session ${number}`,
            issue: null,
            workspacePath,
            by: "person",
            ...place,
          },
          [
            { type: "workspace.ready", path: workspacePath, ...place },
            { type: "launch.started", launch: asLaunchId(`bench-${number}`), how: "fresh", attempt: 1 },
            { type: "launch.up", launch: asLaunchId(`bench-${number}`), agent: null },
            {
              type: "run.ended",
              launch: asLaunchId(`bench-${number}`),
              how: "stopped",
              exit: { code: 0, signal: null },
              uptimeMs: 60_000,
              lastLines: [],
            },
          ],
        );
        await store.applyVerb(id, stopped);
      }),
    );
  } finally {
    store.close();
  }
}

/** As if the user had stopped it. */
export function stopped(state: SessionState): Judged | null {
  const answer = applyVerb(state, { verb: "stop" }, { by: "person", agent: "down" });
  return answer.ok ? answer : null;
}

/** The files from which Holdfast reads the current branch. */
function makeWorktree(repository: string, path: string, branch: string): void {
  const own = join(repository, ".git/worktrees", branch);
  mkdirSync(own, { recursive: true });
  mkdirSync(path, { recursive: true });
  writeFileSync(join(own, "HEAD"), `ref: refs/heads/${branch}\n`);
  writeFileSync(join(own, "commondir"), "../..\n");
  writeFileSync(join(own, "gitdir"), `${join(path, ".git")}\n`);
  writeFileSync(join(path, ".git"), `gitdir: ${own}\n`);
}
