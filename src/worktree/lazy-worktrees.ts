/**
 * Worktrees, with all that makes, moves and reads them loaded when one is first worked on: a starting daemon only asks
 * whether they are there and which branch they are on.
 */
import { loadOnce } from "../base/load-once.ts";
import type { Worktrees } from "../ports/worktree.ts";
import { trashDays } from "./context.ts";
import { exists, readWorktree } from "./record.ts";
import { liveBranch } from "./git/git-files.ts";
import type { WorktreesOptions } from "./worktrees.ts";

export function openLazyWorktrees(options: WorktreesOptions): Worktrees {
  const open = loadOnce(async () => (await import("./worktrees.ts")).openWorktrees(options));
  /** Worktrees of an earlier build: each gets its record behind the first look at it. */
  const asked = new Set<string>();
  return {
    trashDays,
    exists,
    liveBranch: (path) => {
      if (!asked.has(path) && readWorktree(options.worktreesDirectory, path) === null) {
        asked.add(path);
        void open().then(
          (all) => all.liveBranch(path),
          () => undefined,
        );
      }
      return liveBranch(options.worktreesDirectory, path);
    },
    freeBranch: async (...given) => await (await open()).freeBranch(...given),
    preflight: async (...given) => await (await open()).preflight(...given),
    create: async (...given) => await (await open()).create(...given),
    isCreating: async (...given) => await (await open()).isCreating(...given),
    cancelCreate: async (...given) => await (await open()).cancelCreate(...given),
    undo: async (...given) => await (await open()).undo(...given),
    inspect: async (...given) => await (await open()).inspect(...given),
    mergeFacts: async (...given) => await (await open()).mergeFacts(...given),
    isOwnCommit: async (...given) => await (await open()).isOwnCommit(...given),
    changes: async (...given) => await (await open()).changes(...given),
    patch: async (...given) => await (await open()).patch(...given),
    files: async (...given) => await (await open()).files(...given),
    trashedAt: async (...given) => await (await open()).trashedAt(...given),
    trash: async (...given) => await (await open()).trash(...given),
    findReturned: async (...given) => await (await open()).findReturned(...given),
    restore: async (...given) => await (await open()).restore(...given),
    listTrash: async (...given) => await (await open()).listTrash(...given),
    empty: async (...given) => await (await open()).empty(...given),
    exclude: async (...given) => await (await open()).exclude(...given),
    prepareSpare: async (...given) => await (await open()).prepareSpare(...given),
  };
}
