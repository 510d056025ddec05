/** Projects as the daemon sees them: the registered row, with what its holdfast.yaml says now. */
import type { ProjectId } from "../protocol/ids.ts";
import type { Kind } from "../protocol/session.ts";
import type { AgentDefinition } from "./agents.ts";
import type { ProjectRow } from "./store.ts";

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
  tracker: { type: string; repo: string } | null;
  restoreOnBoot: boolean;
  idleStopMinutes: number;
  maxSessions: number | null;
  stuckMinutes: number;
  spareWorktrees: number | null;
  /** Agents that the project's or the person's file defines. */
  agents: AgentDefinition[];
}

export interface Projects {
  /** What is registered for `path`: the projects of its holdfast.yaml, or the repository itself. Throws a HoldfastError. */
  at(path: string, taken: readonly ProjectRow[]): Promise<ProjectRow[]>;
  /** Throws a HoldfastError that names file and line when the configuration is wrong. */
  settings(row: ProjectRow): Promise<ProjectSettings>;
}
