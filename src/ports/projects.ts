/** Projects as the daemon sees them: the registered row, with what its holdfast.yaml says now. */
import type { Containment } from "../contract/containment.ts";
import type { ProjectId } from "../contract/ids.ts";
import type { ReactionSettings } from "../contract/reaction.ts";
import type { Kind } from "../model/session.ts";
import type { AgentConfiguration } from "./agents.ts";
import type { NotifySettings } from "./notify.ts";
import type { ProjectRow } from "./store.ts";
import type { TrackerSettings } from "./tracker.ts";
import type { TrustQuestion } from "./trust.ts";
import type { TrustState } from "../contract/trust.ts";

export interface ProjectTracker extends TrackerSettings {
  /** Name of the environment variable that holds the secret of its webhooks. */
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
  /** What the user's file, then the project's, say of agents. */
  agents: AgentConfiguration[];
  /** Names of environment variables, or prefixes that end with `*`, that its agents get from the daemon's environment. */
  passEnv: string[];
  /** Of new sessions, unless the person says otherwise. */
  contain: Containment;
  /** What the user answered about the file; while its parts are off, these settings are what is left of it. */
  trust: SettingsTrust;
}

export interface SettingsTrust {
  state: TrustState;
  /** Null without a file. */
  digest: string | null;
  /** Settings of the file that never count: one sentence each. */
  notices: string[];
}

export interface AddOptions {
  /** Let this file describe projects that another file describes now. */
  move?: boolean;
}

export interface Projects {
  /** What is registered for `path`: the projects of its holdfast.yaml, or the repository itself. Throws a HoldfastError. */
  at(path: string, taken: readonly ProjectRow[], options?: AddOptions): Promise<ProjectRow[]>;
  /** Throws a HoldfastError that names file and line when the configuration is wrong. */
  settings(row: ProjectRow): Promise<ProjectSettings>;
  /** The file's parts that need trust, or null without a file. Throws as `settings` does. */
  trustOf(row: ProjectRow): Promise<TrustQuestion | null>;
  /** The same for a path that need not be registered. */
  trustAt(path: string): Promise<TrustQuestion | null>;
}

/** What the configuration files say of agents. */
export interface ConfiguredAgents {
  /** Null where the user's file cannot be read or is wrong. */
  user: AgentConfiguration[] | null;
  /** By project, without the user's. Null where its file cannot be read or is wrong. */
  projects: Record<string, AgentConfiguration[] | null>;
}
