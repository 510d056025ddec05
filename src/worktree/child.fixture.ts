/** The process that crash tests kill: one verb, given on stdin. */
import { readFileSync } from "node:fs";
import { asTrashId } from "../contract/ids.ts";
import type { ChildRequest } from "./worktree.fixture.ts";
import { openWorktrees } from "./worktrees.ts";

const request = JSON.parse(readFileSync(0, "utf8")) as ChildRequest;
const { plan } = request;
const workspaces = openWorktrees({
  worktreesDirectory: request.worktrees,
  trashDirectory: request.trash,
  now: Date.now,
});
const id = asTrashId(request.id ?? "");
if (request.verb === "create") await workspaces.create(plan, () => undefined);
if (request.verb === "undo") await workspaces.undo(plan);
if (request.verb === "trash") await workspaces.trash(plan);
if (request.verb === "restore") await workspaces.restore(id);
if (request.verb === "empty") await workspaces.empty(id);
if (request.verb === "spare") await workspaces.prepareSpare(plan.repository, plan.defaultBranch, true);
