/** Projects as the daemon sees them: the registered row with the current settings of its holdfast.yaml. */
import type { Containment } from "../contract/containment.ts";
import type { Kind, ProjectId } from "../contract/ids.ts";
import type { ReactionSettings } from "../contract/reaction.ts";
import type { AgentConfiguration } from "./agents.ts";
import type { NotifySettings } from "./notify.ts";
import type { ProjectRow } from "./store.ts";
import type { TrackerSettings } from "./tracker.ts";
import type { TrustQuestion } from "./trust.ts";
import type { TrustState } from "../contract/trust.ts";

export interface ProjectTracker extends TrackerSettings {
  /** Name of the environment variable with the secret of its webhooks. */
  webhookSecretEnv: string | null;
}

export interface ProjectSettings {
  id: ProjectId;
  path: string;
  prefix: string;
  defaultBranch: string;
  agent: string;
  kind: Kind;
  env: Record<string, string>;
  symlinks: string[];
  copy: string[];
  postCreate: string[];
  /** Where issues are. */
  tracker: ProjectTracker | null;
  /** Where pull requests are; mostly the tracker itself. */
  codeHost: ProjectTracker | null;
  reactions: ReactionSettings;
  notify: NotifySettings;
  restoreOnBoot: boolean;
  idleStopMinutes: number;
  maxSessions: number | null;
  stuckMinutes: number;
  spareWorktrees: number | null;
  /** Agents of the user's file, then of the project's. */
  agents: AgentConfiguration[];
  /** Environment variables, or prefixes that end with `*`, that its agents inherit from the daemon. */
  passEnv: string[];
  /** Default for new sessions. */
  contain: Containment;
  /** The user's answer about the file; settings without trust are left out. */
  trust: SettingsTrust;
}

export interface SettingsTrust {
  state: TrustState;
  /** Null without a file. */
  digest: string | null;
  /** Settings of the file that are always ignored: one sentence each. */
  notices: string[];
}

export interface AddOptions {
  /** Let this file take over projects that another file describes. */
  move?: boolean;
}

export interface Projects {
  /** The projects of a path's holdfast.yaml, or the repository itself. Throws a HoldfastError. */
  at(path: string, taken: readonly ProjectRow[], options?: AddOptions): Promise<ProjectRow[]>;
  /** Throws a HoldfastError with file and line if the configuration is wrong. */
  settings(row: ProjectRow): Promise<ProjectSettings>;
  /** The file's parts that need trust, or null without a file. Throws as `settings` does. */
  trustOf(row: ProjectRow): Promise<TrustQuestion | null>;
  /** The same for a path that need not be registered. */
  trustAt(path: string): Promise<TrustQuestion | null>;
}

/** Agents in the configuration files. */
export interface ConfiguredAgents {
  /** Null if the user's file is unreadable or wrong. */
  user: AgentConfiguration[] | null;
  /** By project, without the user's. Null if its file is unreadable or wrong. */
  projects: Record<string, AgentConfiguration[] | null>;
}
