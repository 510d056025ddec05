/** Removed worktrees. */
import { list, schema, time, type Infer, type Operations } from "./operation.ts";
import { verbRequest } from "./session.ts";

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
  trash: {
    method: "GET",
    path: "/api/trash",
    summary: "List worktrees in the trash",
    who: { device: "watch" },
    output: list(trashJson),
  },
  trashRestore: {
    method: "POST",
    path: "/api/trash/{id}/restore",
    summary: "Restore a worktree from the trash",
    who: { device: "all" },
    input: verbRequest,
    output: trashJson,
  },
  trashEmpty: {
    method: "POST",
    path: "/api/trash/empty",
    summary: "Delete worktrees from the trash permanently",
    who: { device: "all" },
    input: trashRequest,
    output: list(trashJson),
  },
} as const satisfies Operations;
