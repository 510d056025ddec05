/** What is sent over the API, as schemas: validated coming in, described in OpenAPI going out. */
import * as z from "zod/mini";
import { ruleActions } from "./permission-rules.ts";
import { containModes } from "./containment.ts";
import { activities, dispositions, kinds, roles, statuses } from "./ids.ts";
import { trustStates } from "./trust.ts";

export * from "./device-wire.ts";

const time = z.nullable(z.iso.datetime());

/** `{url, state}` is what scripts may count on; the rest is told where a tracker told it. */
export const pullRequestJson = z.object({
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
  seenAt: z.optional(time),
});
export type PullRequestJson = z.infer<typeof pullRequestJson>;

const permissionOptions = z.array(z.object({ optionId: z.string(), name: z.string(), kind: z.string() }));

export const sessionJson = z.object({
  id: z.string(),
  name: z.string(),
  project: z.string(),
  kind: z.enum(kinds),
  role: z.enum(roles),
  agent: z.string(),
  title: z.string(),
  status: z.enum(statuses),
  /** Why the status is what it is, where that needs a sentence. */
  reason: z.nullable(z.string()),
  /** Whether it waits for the user: by its status, or because its latest turn failed. Older daemons leave it out. */
  needsYou: z.optional(z.boolean()),
  intent: z.object({
    want: z.enum(["running", "stopped", "snoozed", "archived", "killed", "deleted"]),
    by: z.string(),
    at: time,
    until: z.optional(time),
  }),
  branch: z.nullable(z.string()),
  base: z.string(),
  workspacePath: z.string(),
  /** How it is shut in; `mode` is off for a session that is not. Older daemons leave it out. */
  contain: z.optional(
    z.object({
      mode: z.enum(containModes),
      network: z.union([z.enum(["on", "off"]), z.object({ allow: z.array(z.string()) })]),
      read: z.array(z.string()),
      write: z.array(z.string()),
    }),
  ),
  issue: z.nullable(z.string()),
  pullRequest: z.nullable(pullRequestJson),
  /** All of them, the one above first. */
  pullRequests: z.optional(z.array(pullRequestJson)),
  /** What the tracker says of the issue. */
  issueFacts: z.optional(
    z.object({ key: z.string(), url: z.string(), title: z.string(), state: z.string(), seenAt: time }),
  ),
  agentSessionId: z.nullable(z.string()),
  processes: z.array(z.object({ pid: z.number(), startedAt: time, what: z.string() })),
  /** The trash entry that holds the worktree, or null while it is in its place. */
  trash: z.nullable(z.string()),
  workspace: z.enum(["planned", "ready", "trashed", "gone"]),
  attach: z.nullable(z.string()),
  activity: z.nullable(z.enum(activities)),
  /** The agent's open questions (chat). */
  permissions: z.array(
    z.object({
      /** Ours: short, and safe to type. */
      requestId: z.string(),
      title: z.string(),
      options: permissionOptions,
      /** The call as the agent described it; a long command is cut with a mark, `more` says that there is more to see. */
      kind: z.optional(z.nullable(z.string())),
      command: z.optional(z.nullable(z.string())),
      cwd: z.optional(z.nullable(z.string())),
      paths: z.optional(z.array(z.string())),
      more: z.optional(z.boolean()),
    }),
  ),
  queued: z.number(),
  /** The last line the agent said or its screen showed, where that is known: plain text of at most 200 characters. */
  lastLine: z.nullable(z.string()),
  createdAt: time,
  lastActivityAt: time,
  end: z.nullable(
    z.object({
      how: z.string(),
      by: z.string(),
      at: time,
      exitCode: z.nullable(z.number()),
      signal: z.nullable(z.string()),
      lastLines: z.array(z.string()),
    }),
  ),
  seq: z.number(),
  /** What the user should know of it besides its status, such as settings that are not trusted. */
  notice: z.optional(z.string()),
});
export type SessionJson = z.infer<typeof sessionJson>;

export const eventJson = z.looseObject({ seq: z.number(), at: z.iso.datetime(), type: z.string() });
export type EventJson = z.infer<typeof eventJson>;

/** Times in milliseconds since 1970; transcript-items.ts has the types. Fold later events on top with transcript.ts. */
export const transcriptJson = z.object({
  /** The last event that is in it. */
  seq: z.number(),
  items: z.array(z.looseObject({ item: z.string(), key: z.string(), seq: z.number(), at: z.number() })),
  /** Whether there are items before these. */
  older: z.boolean(),
  /** Items before these that later events may still change. */
  pinned: z.array(z.looseObject({ item: z.string(), key: z.string(), seq: z.number(), at: z.number() })),
  queue: z.array(z.looseObject({ promptId: z.string(), state: z.string() })),
  plan: z.nullable(z.array(z.unknown())),
  modes: z.unknown(),
  models: z.unknown(),
  configOptions: z.unknown(),
  commands: z.nullable(z.array(z.unknown())),
  usage: z.nullable(z.looseObject({})),
  turn: z.nullable(z.looseObject({ open: z.boolean() })),
  lastReset: z.nullable(z.object({ seq: z.number(), reason: z.string() })),
  primerUsed: z.boolean(),
  /** Which items later events may change, for the fold that goes on. */
  refs: z.looseObject({}),
});

export const infoJson = z.object({
  state: z.enum(["running", "starting", "stopped", "unresponsive"]),
  pid: z.nullable(z.number()),
  version: z.string(),
  build: z.string(),
  url: z.nullable(z.string()),
  /** Further addresses that browsers may use. Left out by earlier builds, like `tls`. */
  publicUrls: z.optional(z.array(z.string())),
  /** Our own TLS; null without. */
  tls: z.optional(z.nullable(z.object({ cert: z.string(), expiresAt: z.nullable(z.string()) }))),
  socket: z.nullable(z.string()),
  home: z.string(),
  startedAt: time,
  managedBy: z.nullable(z.string()),
});
export type InfoJson = z.infer<typeof infoJson>;

export const projectJson = z.object({
  id: z.string(),
  path: z.string(),
  prefix: z.string(),
  defaultBranch: z.string(),
  agent: z.string(),
  kind: z.enum(kinds),
  tracker: z.nullable(z.object({ type: z.string(), repo: z.string() })),
  configFile: z.nullable(z.string()),
  sessions: z.number(),
  /** Whether all of its holdfast.yaml counts. Older daemons leave it out. */
  trust: z.optional(z.enum(trustStates)),
  /** Settings of that file that never count: one sentence each. */
  notices: z.optional(z.array(z.string())),
});
export type ProjectJson = z.infer<typeof projectJson>;

const trustPart = { key: z.string(), value: z.string() };
/** A repository's holdfast.yaml as a question. `file` is null if the repository has no such file. */
export const trustJson = z.object({
  project: z.nullable(z.string()),
  file: z.nullable(z.string()),
  state: z.enum(trustStates),
  /** Of `parts`; the answer has to name it. */
  digest: z.nullable(z.string()),
  /** What needs trust: it runs or sends something, or changes what agents see. */
  parts: z.array(z.object(trustPart)),
  /** Against the version that was answered before, where there is one. */
  changes: z.nullable(z.array(z.object({ change: z.enum(["same", "added", "removed"]), ...trustPart }))),
  /** When that one was answered. */
  since: time,
  /** What never counts, whatever the answer: one sentence each. */
  notices: z.array(z.string()),
});
export type TrustJson = z.infer<typeof trustJson>;

/** Without a credential `ok` alone: which version runs is of use to an attacker. */
export const healthJson = z.object({
  ok: z.boolean(),
  version: z.optional(z.string()),
  build: z.optional(z.string()),
});
/** `kept`: sessions that keep running unsupervised; `halted`: those that were stopped. */
export const stopJson = z.object({ kept: z.number(), halted: z.array(z.string()), remaining: z.array(z.string()) });
/** `remaining` names processes that outlived the wait; the daemon goes on ending them. */
export const verbAnswer = z.object({
  session: sessionJson,
  remaining: z.array(z.object({ pid: z.number(), what: z.string() })),
  /** False when not everything has ended within the wait; the daemon goes on. */
  done: z.boolean(),
  /** Where uncommitted or unpushed work is kept, and anything else the person should read. */
  notes: z.array(z.string()),
});
export const receiptJson = z.object({
  promptId: z.string(),
  disposition: z.enum(dispositions),
  reason: z.nullable(z.string()),
  /** Where the caller waited for the end of the turn. */
  turn: z.optional(z.object({ stopReason: z.string(), text: z.string(), message: z.optional(z.string()) })),
});
/** `reason` says what became of it where it was not this answer that counted. */
export const answerJson = z.object({ answered: z.boolean(), reason: z.nullable(z.string()) });
export const cancelJson = z.object({
  cancelled: z.boolean(),
  stopReason: z.nullable(z.string()),
  reason: z.nullable(z.string()),
});
export const linesJson = z.object({ lines: z.array(z.string()) });
export const primerJson = z.object({ markdown: z.string(), turns: z.number(), omitted: z.number() });
export const queueJson = z.object({
  prompts: z.array(
    z.object({
      promptId: z.string(),
      text: z.string(),
      state: z.string(),
      admittedAt: time,
      attachments: z.array(z.looseObject({ type: z.string(), name: z.string(), size: z.number() })),
    }),
  ),
});
export const workerJson = z.object({
  pid: z.nullable(z.number()),
  session: z.string(),
  agent: z.string(),
  state: z.string(),
  build: z.string(),
  stale: z.boolean(),
  /** Whether the agent runs without its keeper. */
  detached: z.boolean(),
  startedAt: time,
});

export const cleanupJson = z.object({
  session: z.string(),
  outcome: z.enum(["would-kill", "cleaned", "error", "skipped"]),
  why: z.nullable(z.string()),
  /** Work that only its worktree holds, and where it is kept. */
  notes: z.optional(z.array(z.string())),
});
/** One tracker of one project. `why` says what is wrong where something is. */
export const trackerJson = z.object({
  project: z.string(),
  type: z.string(),
  repo: z.string(),
  state: z.enum(["ok", "resting", "failing", "no-token"]),
  why: z.nullable(z.string()),
  requests: z.number(),
  notModified: z.number(),
  /** Of the tracker's own limit, where it says so. */
  remaining: z.nullable(z.number()),
  restsUntil: time,
  lastOk: time,
});
export const spawningJson = z.object({ session: z.nullable(z.string()) });
export const wakeJson = z.object({ woken: z.boolean() });
export const trashJson = z.object({
  id: z.string(),
  session: z.string(),
  path: z.string(),
  branch: z.nullable(z.string()),
  ref: z.nullable(z.string()),
  trashedAt: time,
  /** The first date on which the daemon may remove it; later for every day on which no daemon runs. */
  keptUntil: z.optional(z.iso.date()),
  /** How many days it has been in the trash, counted as for its removal: a wrong clock does not change it. */
  days: z.optional(z.number()),
  uncommitted: z.number(),
  unpushed: z.array(z.string()),
});
export const findingJson = z.object({
  check: z.string(),
  level: z.enum(["ok", "info", "warn", "fail"]),
  message: z.string(),
  fix: z.nullable(z.string()),
  /** Whether `doctor --fix` can mend it. */
  fixable: z.boolean(),
});

const areas = ["committed", "staged", "unstaged", "untracked"] as const;
export const changedFileJson = z.object({
  path: z.string(),
  /** Where a renamed file was before. */
  oldPath: z.nullable(z.string()),
  status: z.enum(["added", "modified", "deleted", "renamed", "untracked", "conflicted"]),
  /** Where it differs: in commits since the merge base, in the index, in the file itself. */
  areas: z.array(z.enum(areas)),
  additions: z.number(),
  deletions: z.number(),
  binary: z.boolean(),
});
export const changesJson = z.object({
  /** What the worktree is compared with: a branch's name, or a commit. */
  base: z.string(),
  /** The commit that HEAD and the base have in common; null in a repository without commits. */
  mergeBase: z.nullable(z.string()),
  head: z.nullable(z.string()),
  files: z.array(changedFileJson),
  /** Whether there are more files than these. */
  truncated: z.boolean(),
});
export const patchJson = z.object({ patch: z.string(), truncated: z.boolean() });
export const filesJson = z.object({ files: z.array(z.string()), truncated: z.boolean() });
export const workJson = z.object({
  uncommitted: z.number(),
  /** Commits that no other ref reaches, newest first: `<short id> <subject>`. */
  unpushed: z.array(z.string()),
  /** Where it is or would be kept, and how to get it back. */
  where: z.string(),
});
export const preflightJson = z.object({
  problems: z.array(z.object({ message: z.string(), hint: z.nullable(z.string()) })),
  /** What the session would get; null where it is not known before the session is made. */
  branch: z.nullable(z.string()),
  base: z.nullable(z.string()),
  id: z.nullable(z.string()),
  agent: z.nullable(z.string()),
  kind: z.enum(kinds),
});
/** One open question in full: what `acp approve` shows before it asks. */
export const questionJson = z.object({
  id: z.string(),
  title: z.string(),
  kind: z.nullable(z.string()),
  command: z.nullable(z.string()),
  cwd: z.nullable(z.string()),
  paths: z.array(z.string()),
  diffs: z.array(z.object({ path: z.string(), before: z.string(), after: z.string() })),
  words: z.string(),
  input: z.nullable(z.string()),
  extras: z.array(z.string()),
  options: permissionOptions,
});

export const permissionRulesJson = z.object({
  file: z.string(),
  /** Why no rule holds; null where the file is good. */
  problem: z.nullable(z.string()),
  rules: z.array(
    z.object({
      number: z.number(),
      line: z.number(),
      text: z.string(),
      action: z.enum(ruleActions),
      agent: z.optional(z.string()),
      project: z.optional(z.string()),
      tool: z.optional(z.string()),
      command: z.optional(z.string()),
      path: z.optional(z.string()),
    }),
  ),
});

export const permissionTestJson = z.object({
  rule: z.nullable(z.number()),
  text: z.nullable(z.string()),
  action: z.nullable(z.enum(ruleActions)),
  result: z.enum(["allowed", "denied", "waits"]),
  reason: z.string(),
});

export const settingsJson = z.object({
  version: z.string(),
  build: z.string(),
  home: z.string(),
  readOnly: z.boolean(),
  agents: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      kinds: z.array(z.enum(kinds)),
      /** Whether its command is found for one of its kinds. */
      installed: z.boolean(),
      command: z.string(),
      /** Why it cannot be used, with the fix. */
      reason: z.nullable(z.string()),
      /** The project whose holdfast.yaml defines or extends it; left out for agents that every project has. */
      project: z.optional(z.string()),
    }),
  ),
  projects: z.array(projectJson),
  notify: z.unknown(),
  configFiles: z.array(z.string()),
  trashDays: z.number(),
});
/** A browser that is called by its push service. Where that is reached is a secret, and not told. */
export const pushBrowserJson = z.object({
  id: z.string(),
  label: z.string(),
  /** Host of the push service. */
  service: z.string(),
  createdAt: time,
  /** Since the daemon started. */
  lastOk: time,
  failure: z.nullable(z.object({ why: z.string(), at: time })),
  /** The device it belongs to; null for one of an earlier version. */
  device: z.optional(z.nullable(z.string())),
});
export const pushJson = z.object({ publicKey: z.string(), browsers: z.array(pushBrowserJson) });
export const pushTestJson = z.object({ sent: z.boolean(), why: z.nullable(z.string()) });
/** What the daemon says in text messages on a terminal's WebSocket; the screen itself comes in binary ones. */
export const terminalFrame = z.discriminatedUnion("type", [
  z.object({ type: z.literal("attached"), launch: z.string(), readonly: z.boolean() }),
  z.object({ type: z.literal("detached"), reason: z.string() }),
]);
/** What a viewer says in text messages there; what is typed comes in binary ones. */
export const terminalRequest = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("resize"), cols: z.number(), rows: z.number() }),
  z.strictObject({ type: z.literal("readonly"), on: z.boolean() }),
]);

export type Infer<S> = S extends z.ZodMiniType<infer T> ? T : never;
export type HealthJson = Infer<typeof healthJson>;
export type StopJson = Infer<typeof stopJson>;
export type VerbAnswer = Infer<typeof verbAnswer>;
export type WorkerJson = Infer<typeof workerJson>;
export type TrashJson = Infer<typeof trashJson>;
export type TrackerJson = Infer<typeof trackerJson>;
export type FindingJson = Infer<typeof findingJson>;
export type ChangedFileJson = Infer<typeof changedFileJson>;
export type ChangesJson = Infer<typeof changesJson>;
export type PatchJson = Infer<typeof patchJson>;
export type FilesJson = Infer<typeof filesJson>;
export type WorkJson = Infer<typeof workJson>;
export type PreflightJson = Infer<typeof preflightJson>;
export type QuestionJson = Infer<typeof questionJson>;
export type SettingsJson = Infer<typeof settingsJson>;
export type PushJson = Infer<typeof pushJson>;
export type PushBrowserJson = Infer<typeof pushBrowserJson>;
export type TerminalFrame = Infer<typeof terminalFrame>;
export type TerminalRequest = Infer<typeof terminalRequest>;
