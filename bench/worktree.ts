/**
 * Worktrees against their floor, in one run: `create` against a bare `git worktree add`, the claim of a spare for a
 * repository of 10,000 files, and the move to the trash. One JSON line per figure; about half a minute.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asSessionId } from "../src/contract/ids.ts";
import type { WorktreePlan } from "../src/ports/worktree.ts";
import { openWorktrees } from "../src/worktree/worktrees.ts";

const rounds = 9;
const largeRounds = 3;
const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
const identity = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"];
const git = (cwd: string, ...args: string[]): string =>
  execFileSync("git", [...identity, ...args], { cwd, env, encoding: "utf8", stdio: "pipe" });

const dir = mkdtempSync(join(tmpdir(), "holdfast-bench-"));
try {
  const small = makeRepository("small", 100);
  const large = makeRepository("large", 10_000);
  await benchCreate(small);
  await benchSpare(large);
  await benchTrash(large);
  benchHead(small);
} finally {
  rmSync(dir, { recursive: true, force: true });
}

function makeRepository(name: string, files: number): string {
  const path = join(dir, name);
  mkdirSync(path);
  git(path, "init", "--quiet", "--initial-branch=main");
  for (let index = 0; index < files; index += 1) {
    const folder = join(path, `d${index % 100}`);
    if (index < 100) mkdirSync(folder);
    writeFileSync(join(folder, `f${index}.txt`), `file ${index}\n`.repeat(20));
  }
  git(path, "add", "--all");
  git(path, "commit", "--quiet", "-m", "files");
  return path;
}

function open(): ReturnType<typeof openWorktrees> {
  const at = { worktreesDirectory: join(dir, "worktrees"), trashDirectory: join(dir, "trash") };
  return openWorktrees({ ...at, now: Date.now });
}

function plan(repository: string, session: string): WorktreePlan {
  const path = join(dir, "worktrees/p", session);
  const none = { base: null, symlinks: [], copy: [], postCreate: [], env: {} };
  return { session: asSessionId(session), repository, path, branch: session, defaultBranch: "main", ...none };
}

/** Interleaved, so that both see the same machine. */
async function benchCreate(repository: string): Promise<void> {
  const workspaces = open();
  const floor: number[] = [];
  const ours: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const at = join(dir, `floor-${round}`);
    floor.push(await time(() => void git(repository, "worktree", "add", "--quiet", "-b", `floor-${round}`, at)));
    ours.push(await time(async () => void (await workspaces.create(plan(repository, `be-${round}`), () => undefined))));
  }
  report("create, 100 files", median(ours), { floorMs: median(floor), ratio: median(ours) / median(floor) });
}

async function benchSpare(repository: string): Promise<void> {
  const workspaces = open();
  const plain = await time(async () => void (await workspaces.create(plan(repository, "la-0"), () => undefined)));
  const claims: number[] = [];
  for (let round = 1; round <= largeRounds; round += 1) {
    await workspaces.prepareSpare(repository, "main", true);
    claims.push(
      await time(async () => void (await workspaces.create(plan(repository, `la-${round}`), () => undefined))),
    );
  }
  report("create from a spare, 10,000 files", median(claims), { withoutSpareMs: plain, limitMs: 100 });
}

async function benchTrash(repository: string): Promise<void> {
  const workspaces = open();
  const clean: number[] = [];
  const floor: number[] = [];
  for (let round = 0; round < largeRounds; round += 1) {
    // Counting uncommitted work is one `git status`; the rename itself takes a tenth of a millisecond.
    floor.push(await time(() => void git(plan(repository, `la-${round}`).path, "status", "--porcelain")));
    clean.push(await time(async () => void (await workspaces.trash(plan(repository, `la-${round}`)))));
  }
  report("trash, 10,000 files, clean", median(clean), { statusFloorMs: median(floor) });
  const dirty = plan(repository, `la-${largeRounds}`);
  for (let index = 0; index < 50; index += 1) writeFileSync(join(dirty.path, `new-${index}`), `${index}\n`);
  report("trash, 10,000 files, 50 changed", await time(async () => void (await workspaces.trash(dirty))), {});
  const [entry] = await workspaces.listTrash();
  report("restore, 10,000 files", await time(async () => void (await workspaces.restore(entry!.id))), {});
}

function benchHead(repository: string): void {
  const workspaces = open();
  const { path } = plan(repository, "be-0");
  const began = performance.now();
  const reads = 1000;
  for (let index = 0; index < reads; index += 1) workspaces.liveBranch(path);
  report("live branch", (performance.now() - began) / reads, { limitMs: 0.05 });
}

async function time(work: () => void | Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

function report(what: string, ms: number, more: Record<string, number>): void {
  const rounded = Object.fromEntries(
    Object.entries({ ms, ...more }).map(([key, value]) => [key, Number(value.toFixed(3))]),
  );
  process.stdout.write(`${JSON.stringify({ bench: "worktree", what, ...rounded })}\n`);
}
