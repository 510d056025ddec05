/** Removed worktrees. */
import { get, list, post, schema, time, trigger, user, watchers, type Infer, type Operations } from "./operation.ts";

const trashRequest = schema("trashRequest", (z) =>
  z.strictObject({ id: z.optional(z.string()), olderThanDays: z.optional(z.number()) }),
);

const trashJson = schema("trashJson", (z) =>
  z.object({
    id: z.string(),
    session: z.string(),
    path: z.string(),
    branch: z.nullable(z.string()),
    ref: z.nullable(z.string()),
    trashedAt: time(z),
    /** The first date on which the daemon may remove it; later by every day on which no daemon runs. */
    keptUntil: z.optional(z.iso.date()),
    /** Days in the trash, counted as for its removal: a wrong clock does not change it. */
    days: z.optional(z.number()),
    uncommitted: z.number(),
    unpushed: z.array(z.string()),
  }),
);
export type TrashJson = Infer<typeof trashJson>;

export const trashOperations = {
  trash: get("/api/trash", "List worktrees in the trash", watchers, list(trashJson)),
  trashRestore: trigger("/api/trash/{id}/restore", "Restore a worktree from the trash", user, trashJson),
  trashEmpty: post(
    "/api/trash/empty",
    "Delete worktrees from the trash permanently",
    user,
    list(trashJson),
    trashRequest,
  ),
} as const satisfies Operations;
