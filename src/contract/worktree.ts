/** A session's worktree: its changes and files. */
import { get, readers, schema, type Infer, type Operations } from "./operation.ts";

const areas = ["committed", "staged", "unstaged", "untracked"] as const;

const changedFileJson = schema("changedFileJson", (z) =>
  z.object({
    path: z.string(),
    /** Previous path of a renamed file. */
    oldPath: z.nullable(z.string()),
    status: z.enum(["added", "modified", "deleted", "renamed", "untracked", "conflicted"]),
    /** Where it differs: in commits since the merge base, in the index, in the file itself. */
    areas: z.array(z.enum(areas)),
    additions: z.number(),
    deletions: z.number(),
    binary: z.boolean(),
  }),
);
export type ChangedFileJson = Infer<typeof changedFileJson>;

const changesJson = schema("changesJson", (z) =>
  z.object({
    /** What the worktree is compared with: a branch's name, or a commit. */
    base: z.string(),
    /** The merge base of HEAD and the base; null in a repository without commits. */
    mergeBase: z.nullable(z.string()),
    head: z.nullable(z.string()),
    files: z.array(changedFileJson(z)),
    /** Whether there are more files than these. */
    truncated: z.boolean(),
  }),
);
export type ChangesJson = Infer<typeof changesJson>;

const patchJson = schema("patchJson", (z) => z.object({ patch: z.string(), truncated: z.boolean() }));
export type PatchJson = Infer<typeof patchJson>;

const filesJson = schema("filesJson", (z) => z.object({ files: z.array(z.string()), truncated: z.boolean() }));
export type FilesJson = Infer<typeof filesJson>;

const workJson = schema("workJson", (z) =>
  z.object({
    uncommitted: z.number(),
    /** Commits that no other ref reaches, newest first: `<short id> <subject>`. */
    unpushed: z.array(z.string()),
    /** Where it is or would be kept, and how to get it back. */
    where: z.string(),
  }),
);
export type WorkJson = Infer<typeof workJson>;

export const worktreeOperations = {
  changes: get(
    "/api/sessions/{id}/changes",
    "List files of the worktree that differ from the base",
    readers,
    changesJson,
  ),
  patch: get(
    "/api/sessions/{id}/changes/patch",
    "Show the worktree's changes against the base as a unified patch",
    readers,
    patchJson,
    { path: "only this file" },
  ),
  files: get("/api/sessions/{id}/files", "Search worktree paths, best match first", readers, filesJson, {
    query: "letters of the path, in order",
    limit: "at most this many",
  }),
  work: get("/api/sessions/{id}/work", "Preview what kill or delete would move to the trash", readers, workJson),
} as const satisfies Operations;
