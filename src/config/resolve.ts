/**
 * What holds for one project: built-in defaults, below the person's own config.yaml, below the file's `defaults`, below the
 * project itself. Pure: what has to be looked up on disk is handed in.
 */
import { dirname, join, resolve } from "node:path";
import type { ProjectSettings } from "../ports/projects.ts";
import { asProjectId } from "../protocol/ids.ts";
import { configuredAgents } from "./agents.ts";
import type { RemoteTracker } from "./git-config.ts";
import {
  builtInDefaults,
  type DefaultsConfig,
  type HoldfastConfig,
  type NotifyConfig,
  type ProjectConfig,
  type ReactionsConfig,
  type TrackerConfig,
  type UserConfig,
} from "./schema.ts";

export interface ResolvedTracker {
  type: TrackerConfig["type"];
  repo: string;
  baseUrl: string | null;
  tokenEnv: string | null;
  webhookSecretEnv: string | null;
}

export interface ResolvedProject extends Omit<ProjectSettings, "defaultBranch"> {
  /** Null: detect. */
  defaultBranch: string | null;
  tracker: ResolvedTracker | null;
  codeHost: ResolvedTracker | null;
  reactions: ReactionsConfig;
  notify: NotifyConfig;
  configFile: string | null;
}

export interface ResolveRequest {
  id: string;
  /** Absolute, links resolved. */
  path: string;
  prefix: string;
  file: string | null;
  config: HoldfastConfig;
  user: UserConfig;
  /** The tracker that the repository's remote points to. */
  remote: RemoteTracker | null;
}

export function resolveProject(request: ResolveRequest): ResolvedProject {
  const { config, user } = request;
  const project: ProjectConfig = config.projects?.[request.id] ?? {};
  const defaults: DefaultsConfig & typeof builtInDefaults = Object.assign(
    {},
    builtInDefaults,
    user.defaults,
    config.defaults,
  );
  const tracker = resolveTracker(project.tracker, request.remote);
  return {
    id: asProjectId(request.id),
    path: request.path,
    prefix: request.prefix,
    defaultBranch: project.defaultBranch ?? null,
    agent: project.agent ?? defaults.agent,
    kind: project.kind ?? defaults.kind,
    env: project.env ?? {},
    symlinks: project.symlinks ?? [],
    copy: project.copy ?? [],
    postCreate: project.postCreate ?? [],
    tracker,
    // Linear has issues only: the code is where the remote says.
    codeHost: tracker?.type === "linear" ? resolveTracker(undefined, request.remote) : tracker,
    reactions: project.reactions ?? {},
    notify: { ...user.notify, ...config.notify },
    agents: [...configuredAgents("user", user.agents), ...configuredAgents("project", config.agents)],
    passEnv: [...new Set([user.defaults, config.defaults, project].flatMap((layer) => layer?.passEnv ?? []))],
    restoreOnBoot: defaults.restoreOnBoot,
    idleStopMinutes: defaults.idleStopMinutes,
    maxSessions: defaults.maxSessions ?? null,
    spareWorktrees: defaults.spareWorktrees ?? null,
    stuckMinutes: defaults.stuckMinutes,
    configFile: request.file,
  };
}

/** Relative paths are relative to the file they stand in; `~/` is the person's home. */
export function resolvePath(path: string, file: string, home: string): string {
  if (path === "~" || path.startsWith("~/")) return join(home, path.slice(1));
  return resolve(dirname(file), path);
}

/** Null also where a tracker is named whose repository nobody knows; `needsRepo` tells these apart. */
function resolveTracker(tracker: TrackerConfig | undefined, remote: RemoteTracker | null): ResolvedTracker | null {
  if (tracker === undefined) return remote === null ? null : { ...remote, tokenEnv: null, webhookSecretEnv: null };
  const same = remote?.type === tracker.type ? remote : null;
  const repo = tracker.repo ?? same?.repo;
  if (repo === undefined) return null;
  return {
    type: tracker.type,
    repo,
    baseUrl: tracker.baseUrl ?? same?.baseUrl ?? null,
    tokenEnv: tracker.tokenEnv ?? null,
    webhookSecretEnv: tracker.webhookSecretEnv ?? null,
  };
}

export function needsRepo(tracker: TrackerConfig | undefined, remote: RemoteTracker | null): boolean {
  return tracker !== undefined && tracker.repo === undefined && remote?.type !== tracker.type;
}
