/** Worktrees for the daemon: implements the port, one call at a time per path. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "../ports/api.ts";
import type { Worktrees } from "../ports/worktree.ts";
import { HoldfastError, messageOf } from "../contract/errors.ts";
import { areCommandsLeft, endAllCommands } from "./create/commands.ts";
import { trashDays, type Context } from "./context.ts";
import { createWorktree } from "./create/create.ts";
import { emptyTrash } from "./trash/empty.ts";
import { excludePatterns } from "./create/provision.ts";
import { exists, type Worktree } from "./record.ts";
import { findFreeBranch, PreflightCache } from "./create/start.ts";
import { findWorktree, worktreeAt } from "./find-worktree.ts";
import { liveBranch } from "./git/git-files.ts";
import { inspectWorktree } from "./changes/inspect.ts";
import { preflight } from "./create/preflight.ts";
import { findReturned } from "./trash/put-back.ts";
import { restoreFromTrash } from "./trash/restore.ts";
import { Serial } from "../base/async.ts";
import { readWorktree } from "./record.ts";
import { prepareSpare } from "./create/spare.ts";
import {
  dropUnwritten,
  forgetRestored,
  hasTree,
  namesIn,
  publicEntry,
  readRecord,
  readRecords,
  treeOf,
} from "./trash/records.ts";
import { moveToTrash, settle } from "./trash/trash.ts";
import { undoCreate } from "./create/undo.ts";

export interface WorktreesOptions {
  worktreesDirectory: string;
  /** On the file system of the worktrees: a worktree is moved there by rename or not at all. */
  trashDirectory: string;
  now: () => number;
  /** The repository of the session at this path, for worktrees of earlier builds, which have no record. */
  repositoryOf?: (path: string) => string | null;
  log?: Pick<Logger, "info" | "warn">;
}

const silent = { info: (): void => undefined, warn: (): void => undefined };

export function openWorktrees(options: WorktreesOptions): Worktrees {
  const context: Context = {
    worktrees: options.worktreesDirectory,
    trash: options.trashDirectory,
    now: options.now,
    log: options.log ?? silent,
    serial: new Serial(),
    busySpares: new Set(),
    busyEntries: new Set(),
    findings: new Map(),
    preflights: new PreflightCache(),
    repositoryOf: options.repositoryOf ?? (() => null),
  };
  rmSync(join(context.worktrees, ".scratch"), { recursive: true, force: true });
  dropScratch(context);
  const { serial } = context;
  const at = (path: string): Worktree => worktreeAt(context, path);
  /** Paths seen so far: a worktree of an earlier build gets its record once, and no list waits for that. */
  const seen = new Set<string>();
  /** Trash entries share the lock of the path they came from. */
  const pathOf = (id: string): string => readRecord(join(context.trash, id))?.path ?? id;

  return {
    freeBranch: findFreeBranch,
    preflight: async (plan) => await preflight(context, plan),
    create: async (plan, output, signal) =>
      await serial.run(plan.path, async () => {
        try {
          return await createWorktree(context, plan, output, signal);
        } catch (error) {
          if (error instanceof HoldfastError && error.code === "launch-failed") await undoQuietly(context, plan);
          throw error;
        }
      }),
    isCreating: areCommandsLeft,
    cancelCreate: async (path) => await serial.run(path, async () => await endAllCommands(path)),
    undo: async (plan) => await serial.run(plan.path, async () => await undoCreate(context, plan)),
    inspect: async (path) => (await inspectWorktree(context, at(path))).work,
    mergeFacts: async (question) =>
      await (await import("./changes/merge-check.ts")).readMergeFacts(at(question.path), question),
    isOwnCommit: async (path, commit, base) =>
      await (await import("./changes/merge-check.ts")).isOwnCommit(at(path), commit, base),
    trashDays,
    // Only the dashboard needs these: loaded on first use.
    changes: async (path, against) =>
      await (await import("./changes/changes.ts")).readChanges(context, at(path), against),
    patch: async (path, against, file) =>
      await (await import("./changes/patch.ts")).readPatch(context, at(path), against, file),
    files: async (path, query, limit) => await (await import("./changes/files.ts")).findFiles(at(path), query, limit),
    trashedAt: async (id) => (hasTree(context.trash, id) ? treeOf(context.trash, id) : null),
    exists,
    liveBranch: (path) => {
      if (!seen.has(path)) {
        seen.add(path);
        if (readWorktree(context.worktrees, path) === null) setImmediate(() => recordQuietly(context, path));
      }
      return liveBranch(context.worktrees, path);
    },
    trash: async (request) => await serial.run(request.path, async () => await moveToTrash(context, request)),
    findReturned: async (own) => await serial.run(own.path, async () => await findReturned(context, own)),
    restore: async (id) => await serial.run(pathOf(id), async () => await restoreFromTrash(context, id)),
    listTrash: async () => await listTrash(context),
    empty: async (id) => await serial.run(pathOf(id), async () => await emptyTrash(context, id)),
    exclude: async (path, patterns) => excludePatterns(at(path).commonDir, patterns),
    prepareSpare: async (repository, defaultBranch, always) =>
      await prepareSpare(context, repository, defaultBranch, always ?? false),
  };
}

async function listTrash(context: Context): ReturnType<Worktrees["listTrash"]> {
  dropUnwritten(context.trash);
  dropScratch(context);
  forgetRestored(context.trash, context.now() - trashDays * 24 * 60 * 60_000);
  const kept = readRecords(context.trash).filter((record) => hasTree(context.trash, record.id));
  await Promise.all(
    kept.map(async (record) => {
      try {
        // After a crash right after the rename the branch would stay blocked.
        await context.serial.run(record.path, async () => {
          if (hasTree(context.trash, record.id)) await settle(context, record);
        });
      } catch (error) {
        context.log.warn("cannot finish moving a worktree to the trash", { id: record.id, error: messageOf(error) });
      }
    }),
  );
  return kept.map(publicEntry);
}

function recordQuietly(context: Context, path: string): void {
  try {
    findWorktree(context, path);
  } catch (error) {
    context.log.warn("a worktree of an earlier build could not be recorded", { path, error: messageOf(error) });
  }
}

async function undoQuietly(context: Context, plan: Parameters<Worktrees["undo"]>[0]): Promise<void> {
  try {
    await undoCreate(context, plan);
  } catch (error) {
    context.log.warn("cannot undo a failed worktree", { path: plan.path, error: messageOf(error) });
  }
}

/** Temporary files of a crashed daemon; no other daemon uses this home. */
function dropScratch({ trash, busyEntries }: Context): void {
  for (const name of namesIn(trash)) {
    const id = /^\.scratch-(.*?)(?:\.git)?$/.exec(name)?.[1];
    if (id !== undefined && !busyEntries.has(id)) rmSync(join(trash, name), { recursive: true, force: true });
  }
}
