/** Ids, which are branded so that one is never passed for another, and the words that events and responses share. */
declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

export type ProjectId = Branded<"ProjectId">;
/** `<prefix>-<n>` or `<prefix>-<issue>`: never reused, never renamed. */
export type SessionId = Branded<"SessionId">;
/** One start of an agent. Timers, records and tmux options carry it, so an old one can never act on a new one. */
export type LaunchId = Branded<"LaunchId">;
/** Minted by the client, so that a retry is safe. */
export type PromptId = Branded<"PromptId">;
export type TrashId = Branded<"TrashId">;

export const projectIdPattern = /^[a-z0-9][a-z0-9_-]{0,62}$/;
export const prefixPattern = /^[a-z][a-z0-9]{0,15}$/;
export const sessionIdPattern = /^[a-z][a-z0-9]{0,15}-[a-z0-9][a-z0-9-]{0,62}$/;
export const promptIdPattern = /^[A-Za-z0-9_.:-]{1,128}$/;

export const asProjectId = (text: string): ProjectId => text as ProjectId;
export const asSessionId = (text: string): SessionId => text as SessionId;
export const asLaunchId = (text: string): LaunchId => text as LaunchId;
export const asPromptId = (text: string): PromptId => text as PromptId;
export const asTrashId = (text: string): TrashId => text as TrashId;

export const kinds = ["terminal", "chat"] as const;
export type Kind = (typeof kinds)[number];

export const roles = ["worker", "orchestrator", "shell"] as const;
export type Role = (typeof roles)[number];

/**
 * What became of a prompt. `delivered`: the agent itself confirmed it. `typed`: on the screen of an agent that confirms
 * nothing, or one of the agent's own commands. `unconfirmed`: it may have arrived, so Holdfast does not resend it.
 */
export const dispositions = ["delivered", "typed", "queued", "unconfirmed", "refused"] as const;
export type Disposition = (typeof dispositions)[number];

export const activities = ["working", "idle", "needs_input"] as const;
export type Activity = (typeof activities)[number];

/** Of a session that is between turns and has a pull request. */
export const pullRequestStatuses = [
  "pr_open",
  "ci_failed",
  "review_pending",
  "changes_requested",
  "approved",
  "mergeable",
  "merged",
] as const;

/** In the order of docs/spec.md. Computed, never stored. */
export const statuses = [
  "starting",
  "working",
  "needs_input",
  "idle",
  "running",
  "stuck",
  "unknown",
  "failed",
  ...pullRequestStatuses,
  "stopped",
  "snoozed",
  "archived",
  "exited",
  "done",
  "killed",
] as const;
export type Status = (typeof statuses)[number];

/** Who changed something: `person`, a policy's name (`cleanup`, `idle-stop`, `snooze-timer`, `reaction`), or `session:<id>`. */
export type Actor = string;

/** What the user asked for. Changed by a verb or by a policy that the user set, never derived from an observation. */
export type Want =
  /** `convert`: the session becomes the other kind first. Any newer intent cancels that. */
  | { want: "running"; convert?: Conversion }
  | { want: "stopped" }
  | { want: "snoozed"; until: number }
  | { want: "archived" }
  /** Only the user's explicit restore leaves it. */
  | { want: "killed" }
  /** Final. */
  | { want: "deleted" };

export interface Conversion {
  kind: Kind;
  /** The conversation is discarded instead of continued. */
  fresh: boolean;
}

/** A process, distinguished from a later one with the same pid by boot and start time. */
export interface ProcessIdentity {
  bootId: string;
  pid: number;
  /** Field 22 of /proc/<pid>/stat, in clock ticks since boot, as text. */
  startTime: string;
}

export interface ExitStatus {
  code: number | null;
  signal: string | null;
}

/** How the latest launch ended: by its own exit 0, by a crash, by our stop, or lost with the machine or tmux server. */
export type EndedHow = "own-exit" | "crash" | "stopped" | "lost";

export type LaunchHow = "fresh" | "resume";

/** One way to answer a permission request; chosen by `kind`, because order and ids differ between agents. */
export interface PermissionOption {
  optionId: string;
  name: string;
  kind: string;
}
