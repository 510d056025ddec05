/** Sessions: how they are sent over the API, and the verbs that change them. */
import { containModes } from "./containment.ts";
import { get, list, post, readers, schema, time, trigger, user, type Infer, type Operations } from "./operation.ts";
import { activities, kinds, roles, statuses } from "./ids.ts";

/** Scripts may rely on `{url, state}`; the rest is present if a tracker reported it. */
export const pullRequestJson = schema("pullRequestJson", (z) =>
  z.object({
    url: z.string(),
    state: z.string(),
    number: z.optional(z.number()),
    title: z.optional(z.string()),
    draft: z.optional(z.boolean()),
    headBranch: z.optional(z.string()),
    baseBranch: z.optional(z.string()),
    checks: z.optional(
      z.object({ passed: z.number(), failed: z.number(), pending: z.number(), failedNames: z.array(z.string()) }),
    ),
    review: z.optional(z.string()),
    conflict: z.optional(z.nullable(z.boolean())),
    mergeable: z.optional(z.nullable(z.boolean())),
    claimed: z.optional(z.boolean()),
    /** When the tracker last confirmed it. */
    seenAt: z.optional(time(z)),
  }),
);
export type PullRequestJson = Infer<typeof pullRequestJson>;

export const permissionOptions = schema("permissionOptions", (z) =>
  z.array(z.object({ optionId: z.string(), name: z.string(), kind: z.string() })),
);

export const sessionJson = schema("sessionJson", (z) =>
  z.object({
    id: z.string(),
    name: z.string(),
    project: z.string(),
    kind: z.enum(kinds),
    role: z.enum(roles),
    agent: z.string(),
    title: z.string(),
    /** Whether lists and the board show it first. Missing from a session that was never pinned. */
    pinned: z.optional(z.boolean()),
    status: z.enum(statuses),
    /** Why the status is what it is, if that needs a sentence. */
    reason: z.nullable(z.string()),
    /** Whether it waits for the user: by its status, or because its latest turn failed. Missing from older daemons. */
    needsYou: z.optional(z.boolean()),
    intent: z.object({
      want: z.enum(["running", "stopped", "snoozed", "archived", "killed", "deleted"]),
      by: z.string(),
      at: time(z),
      until: z.optional(time(z)),
    }),
    branch: z.nullable(z.string()),
    base: z.string(),
    workspacePath: z.string(),
    /** Its containment; `mode` is off for a session without. Missing from older daemons. */
    contain: z.optional(
      z.object({
        mode: z.enum(containModes),
        network: z.union([z.enum(["on", "off"]), z.object({ allow: z.array(z.string()) })]),
        read: z.array(z.string()),
        write: z.array(z.string()),
      }),
    ),
    issue: z.nullable(z.string()),
    pullRequest: z.nullable(pullRequestJson(z)),
    /** All of them, the one above first. */
    pullRequests: z.optional(z.array(pullRequestJson(z))),
    /** The issue as its tracker reports it. */
    issueFacts: z.optional(
      z.object({ key: z.string(), url: z.string(), title: z.string(), state: z.string(), seenAt: time(z) }),
    ),
    agentSessionId: z.nullable(z.string()),
    processes: z.array(z.object({ pid: z.number(), startedAt: time(z), what: z.string() })),
    /** The trash entry that contains the worktree; null while the worktree is in use. */
    trash: z.nullable(z.string()),
    workspace: z.enum(["planned", "ready", "trashed", "gone"]),
    attach: z.nullable(z.string()),
    activity: z.nullable(z.enum(activities)),
    /** Open permission requests (chat). */
    permissions: z.array(
      z.object({
        /** Our own id: short, and safe to type. */
        requestId: z.string(),
        title: z.string(),
        options: permissionOptions(z),
        /** The call as the agent described it; a long command is shortened, `more` marks that. */
        kind: z.optional(z.nullable(z.string())),
        command: z.optional(z.nullable(z.string())),
        cwd: z.optional(z.nullable(z.string())),
        paths: z.optional(z.array(z.string())),
        more: z.optional(z.boolean()),
      }),
    ),
    queued: z.number(),
    /** The last line of the agent's text or screen, if known: plain text of at most 200 characters. */
    lastLine: z.nullable(z.string()),
    createdAt: time(z),
    lastActivityAt: time(z),
    end: z.nullable(
      z.object({
        how: z.string(),
        by: z.string(),
        at: time(z),
        exitCode: z.nullable(z.number()),
        signal: z.nullable(z.string()),
        lastLines: z.array(z.string()),
      }),
    ),
    seq: z.number(),
    /** What the user should know besides the status, such as settings that are not trusted. */
    notice: z.optional(z.string()),
  }),
);
export type SessionJson = Infer<typeof sessionJson>;

const snoozeRequest = schema("snoozeRequest", (z) =>
  z.strictObject({
    wait: z.optional(z.boolean()),
    forMs: z.number().check(z.positive(), z.maximum(366 * 24 * 3600 * 1000)),
  }),
);

const renameRequest = schema("renameRequest", (z) =>
  z.strictObject({ title: z.string().check(z.minLength(1), z.maxLength(200)) }),
);

const convertRequest = schema("convertRequest", (z) =>
  z.strictObject({
    kind: z.enum(kinds),
    /** Discards the conversation instead of moving it. */
    fresh: z.optional(z.boolean()),
    wait: z.optional(z.boolean()),
  }),
);

const cleanupRequest = schema("cleanupRequest", (z) =>
  z.strictObject({
    project: z.optional(z.string()),
    dryRun: z.optional(z.boolean()),
    dead: z.optional(z.boolean()),
  }),
);

const cleanupJson = schema("cleanupJson", (z) =>
  z.object({
    session: z.string(),
    outcome: z.enum(["would-kill", "cleaned", "error", "skipped"]),
    why: z.nullable(z.string()),
    /** Work that exists only in its worktree, and where it is kept. */
    notes: z.optional(z.array(z.string())),
  }),
);
export type CleanupLine = Infer<typeof cleanupJson>;

export const verbResponse = schema("verbResponse", (z) =>
  z.object({
    session: sessionJson(z),
    /** Processes that outlived the wait; the daemon keeps stopping them. */
    remaining: z.array(z.object({ pid: z.number(), what: z.string() })),
    /** False if not everything stopped within the wait; the daemon continues. */
    done: z.boolean(),
    /** Where uncommitted or unpushed work is kept, and anything else the user should read. */
    notes: z.array(z.string()),
  }),
);
export type VerbResponse = Infer<typeof verbResponse>;

const verb = <const Name extends string>(name: Name, summary: string) =>
  trigger(`/api/sessions/{id}/${name}`, summary, user, verbResponse);

/** Verbs that need nothing but a session: handler, command and menu item follow from the row and `model/verbs.ts`. */
export const plainVerbs = {
  stop: verb("stop", "Stop the agent gracefully; keep worktree and conversation"),
  kill: verb("kill", "Kill the process tree; move the worktree to the trash"),
  restore: verb("restore", "Resume a session in its conversation"),
  archive: verb("archive", "Stop and archive a session"),
  unarchive: verb("unarchive", "Move a session out of the archive"),
  wake: verb("wake", "End a snooze now"),
  delete: verb("delete", "Delete permanently; move the worktree to the trash"),
  pin: verb("pin", "Show a session first in lists and on the board"),
  unpin: verb("unpin", "Show a session in its usual order again"),
} as const satisfies Operations;
export type PlainVerb = keyof typeof plainVerbs;
export const plainVerbNames = Object.keys(plainVerbs) as readonly PlainVerb[];

export const sessionOperations = {
  sessions: get("/api/sessions", "List sessions", { device: "watch", agent: "list" }, list(sessionJson), {
    project: "only this project's",
  }),
  session: get("/api/sessions/{id}", "Show a session", readers, sessionJson),
  ...plainVerbs,
  snooze: { ...verb("snooze", "Stop for some time"), input: snoozeRequest },
  rename: post("/api/sessions/{id}/rename", "Change the title", user, sessionJson, renameRequest),
  convert: { ...verb("convert", "Move the conversation between terminal and chat"), input: convertRequest },
  cleanup: post("/api/cleanup", "Kill sessions whose work is done", user, list(cleanupJson), cleanupRequest),
} as const satisfies Operations;
