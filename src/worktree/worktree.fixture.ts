/** For the tests of this folder: real repositories in a fresh directory, and a child that dies at a named step. */
import { execFileSync, spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { asSessionId } from "../contract/ids.ts";
import type { WorktreePlan, Worktrees } from "../ports/worktree.ts";
import { openWorktrees } from "./worktrees.ts";

export interface World {
  dir: string;
  repository: string;
  workspaces: Worktrees;
  worktrees: string;
  trash: string;
  plan: (session: string, more?: Partial<WorktreePlan>) => WorktreePlan;
  remove: () => void;
}

/** Nobody's global configuration reaches a test. */
export const testEnvironment = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };

export function makeWorld(options: { commits?: boolean; objectFormat?: "sha1" | "sha256" } = {}): World {
  Object.assign(process.env, testEnvironment);
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-work-")));
  const repository = join(dir, "repository");
  mkdirSync(repository);
  sh(repository, "init", "--quiet", "--initial-branch=main", `--object-format=${options.objectFormat ?? "sha1"}`);
  if (options.commits !== false)
    commit(repository, { "file.txt": "one\n", ".gitignore": "*.ignored\nnode_modules/\n" });
  const worktrees = join(dir, "worktrees");
  const trash = join(dir, "trash");
  const workspaces = openWorktrees({ worktreesDirectory: worktrees, trashDirectory: trash, now: Date.now });
  const plan = (session: string, more: Partial<WorktreePlan> = {}): WorktreePlan => ({
    session: asSessionId(session),
    repository,
    path: join(worktrees, "p", session),
    branch: session,
    base: null,
    defaultBranch: "main",
    symlinks: [],
    copy: [],
    postCreate: [],
    env: {},
    ...more,
  });
  const remove = (): void => rmSync(dir, { recursive: true, force: true });
  return { dir, repository, workspaces, worktrees, trash, plan, remove };
}

/** git as a person would run it. */
export function sh(cwd: string, ...args: string[]): string {
  const identity = {
    GIT_AUTHOR_NAME: "t",
    GIT_AUTHOR_EMAIL: "t@t",
    GIT_COMMITTER_NAME: "t",
    GIT_COMMITTER_EMAIL: "t@t",
  };
  const env = { ...process.env, ...identity, ...testEnvironment };
  const options = { cwd, env, encoding: "utf8", stdio: "pipe" } as const;
  return execFileSync("git", ["-c", "protocol.file.allow=always", ...args], options);
}

export function put(root: string, files: Record<string, string | Buffer>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), content);
  }
}

export function commit(root: string, files: Record<string, string>, message = "work"): string {
  put(root, files);
  sh(root, "add", "--all");
  sh(root, "commit", "--quiet", "--allow-empty", "-m", message);
  return sh(root, "rev-parse", "HEAD").trim();
}

/** Every name, kind, mode and byte below a directory; names are latin1, because they need not be UTF-8. */
export function manifest(root: string, below = ""): Record<string, string> {
  const all: Record<string, string> = {};
  const at = (path: string): Buffer => Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, "latin1")]);
  for (const name of readdirSync(at(below), { encoding: "latin1" })) {
    const path = below === "" ? name : `${below}/${name}`;
    const stat = lstatSync(at(path));
    const mode = (stat.mode & 0o7777).toString(8);
    if (stat.isSymbolicLink()) all[path] = `link ${readlinkSync(at(path))}`;
    else if (stat.isDirectory()) Object.assign(all, { [path]: `dir ${mode}` }, manifest(root, path));
    else
      all[path] = `${mode} ${createHash("sha256")
        .update(readFileSync(at(path)))
        .digest("hex")}`;
  }
  return all;
}

/** What git itself says about a worktree, beside its files. */
export function gitState(path: string): Record<string, string> {
  return {
    status: sh(path, "status", "--porcelain=v2", "--branch", "--untracked-files=all"),
    index: sh(path, "ls-files", "--stage"),
    stash: sh(path, "stash", "list"),
    log: sh(path, "log", "--format=%H %s"),
  };
}

/** A worktree with one of everything that tools of this kind have lost. */
export async function makeZoo(world: World, session: string): Promise<WorktreePlan> {
  const inner = join(world.dir, "inner");
  mkdirSync(inner);
  sh(inner, "init", "--quiet", "--initial-branch=main");
  commit(inner, { "inner.txt": "inner\n" });
  put(world.repository, { ".gitattributes": "*.crlf text eol=crlf\n*.odd filter=odd\n", "unix.crlf": "a\nb\n" });
  put(world.repository, { "gone.txt": "gone", "mode.sh": "#!/bin/sh\n", "thing.odd": "odd\n", "staged.txt": "old\n" });
  sh(world.repository, "submodule", "--quiet", "add", inner, "sub");
  commit(world.repository, {}, "zoo");
  const plan = world.plan(session);
  await world.workspaces.create(plan, () => undefined);
  const { path } = plan;
  commit(path, { "unpushed.txt": "only here\n" }, "unpushed work");
  put(path, { "stashed.txt": "stash me\n" });
  sh(path, "add", "stashed.txt");
  sh(path, "stash", "push", "--quiet");
  put(path, { "staged.txt": "staged\n" });
  sh(path, "add", "staged.txt");
  put(path, { "staged.txt": "and then changed again\n", "file.txt": "unstaged\n", "unix.crlf": "x\r\ny\r\n" });
  put(path, { "untracked.txt": "new\n", "deep/er/untracked": "new\n", "x.ignored": "ignored\n" });
  put(path, { "node_modules/left/pad.js": "1\n", "new\nline": "name\n", '"quoted': "q\n", ünï: "u\n" });
  put(path, { "thing.odd": "changed odd\n", "big.bin": randomBytes(5 * 1024 * 1024), "secret.key": "s\n" });
  put(path, { "sub/inner.txt": "changed in the submodule\n", "sub/new.txt": "new in the submodule\n" });
  writeFileSync(Buffer.concat([Buffer.from(`${path}/not-utf8-`), Buffer.from([0xff, 0xfe])]), "bytes\n");
  chmodSync(join(path, "secret.key"), 0o600);
  chmodSync(join(path, "mode.sh"), 0o755);
  rmSync(join(path, "gone.txt"));
  symlinkSync("file.txt", join(path, "link"));
  symlinkSync("nowhere/at/all", join(path, "dangling"));
  mkdirSync(join(path, "empty"));
  mkdirSync(join(path, "nested"));
  sh(join(path, "nested"), "init", "--quiet", "--initial-branch=main");
  commit(join(path, "nested"), { "n.txt": "nested\n" });
  put(join(path, "nested"), { "loose.txt": "nested and uncommitted\n" });
  return plan;
}

export interface ChildRequest {
  verb: "create" | "undo" | "trash" | "restore" | "empty" | "spare";
  worktrees: string;
  trash: string;
  plan: WorktreePlan;
  id?: string;
}

/** Runs one verb in a process of its own and kills that at a step. Throws when the step was never reached. */
export function dieAt(world: World, point: string, verb: ChildRequest["verb"], plan: WorktreePlan, id?: string): void {
  const points = join(world.dir, `points-${point}`);
  mkdirSync(points, { recursive: true });
  writeFileSync(join(points, `${point}.kill`), "");
  const request: ChildRequest = { verb, worktrees: world.worktrees, trash: world.trash, plan, ...(id ? { id } : {}) };
  const child = spawnSync(process.execPath, [fileURLToPath(new URL("child.fixture.ts", import.meta.url))], {
    input: JSON.stringify(request),
    env: { ...process.env, ...testEnvironment, HOLDFAST_TEST_POINTS: points },
    encoding: "utf8",
    timeout: 60_000,
  });
  const reached = existsSync(join(points, `${point}.reached`));
  rmSync(points, { recursive: true });
  if (!reached || child.signal !== "SIGKILL") throw new Error(`${point} was not reached: ${child.stderr}`);
}
