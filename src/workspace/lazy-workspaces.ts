/**
 * Worktrees, with all that makes, moves and reads them loaded when one is first worked on: a starting daemon only asks
 * whether they are there and which branch they are on.
 */
import type { Workspaces } from "../ports/workspace.ts";
import { trashDays } from "./context.ts";
import { exists } from "./exists.ts";
import { liveBranch } from "./head.ts";
import type { WorkspacesOptions } from "./workspaces.ts";

/** `load` brings in the rest ahead of the first one who needs it. */
export function openLazyWorkspaces(options: WorkspacesOptions): Workspaces & { load(): Promise<unknown> } {
  let opened: Promise<Workspaces> | undefined;
  const open = (): Promise<Workspaces> =>
    (opened ??= import("./workspaces.ts").then(({ openWorkspaces }) => openWorkspaces(options)));
  const later =
    <A extends unknown[], R>(method: (all: Workspaces) => (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> =>
      await method(await open())(...args);
  return {
    load: open,
    trashDays,
    exists,
    liveBranch,
    freeBranch: later((all) => all.freeBranch),
    preflight: later((all) => all.preflight),
    create: later((all) => all.create),
    undo: later((all) => all.undo),
    inspect: later((all) => all.inspect),
    landing: later((all) => all.landing),
    isOwnCommit: later((all) => all.isOwnCommit),
    changes: later((all) => all.changes),
    patch: later((all) => all.patch),
    files: later((all) => all.files),
    trashedAt: later((all) => all.trashedAt),
    trash: later((all) => all.trash),
    restore: later((all) => all.restore),
    listTrash: later((all) => all.listTrash),
    empty: later((all) => all.empty),
    exclude: later((all) => all.exclude),
    prepareSpare: later((all) => all.prepareSpare),
  };
}
