/**
 * What holds for one project: built-in defaults, below the person's own config.yaml, below the file's `defaults`, below the
 * project itself. Pure: what has to be looked up on disk is handed in.
 */
import { dirname, join, resolve } from "node:path";
import type { ProjectSettings } from "../ports/projects.ts";
import { tightenedBy, type ContainmentWish } from "../contract/containment.ts";
import { asProjectId } from "../contract/ids.ts";
import type { TrustState } from "../contract/trust.ts";
import { configuredAgents } from "./agents.ts";
import type { RemoteTracker } from "./git-config.ts";
import {
  builtInDefaults,
  type ContainConfig,
  type DefaultsConfig,
  type HoldfastConfig,
  type NotifyConfig,
  type ProjectConfig,
  type ReactionsConfig,
  type UserConfig,
} from "./schema.ts";
import { resolveTracker } from "./tracker-hosts.ts";

export interface ResolvedProject extends Omit<ProjectSettings, "defaultBranch"> {
  /** Null: detect. */
  defaultBranch: string | null;
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
  /** What the user answered about the file; `config` is then what is left of it. */
  trust: { state: TrustState; digest: string | null; notices: string[] };
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
  const hosts = user.trackers ?? {};
  const tracker = resolveTracker(project.tracker, request.remote, hosts);
  const { trust } = request;
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
    codeHost: tracker?.type === "linear" ? resolveTracker(undefined, request.remote, hosts) : tracker,
    reactions: project.reactions ?? {},
    // Where notifications go is the user's alone to say.
    notify: user.notify ?? {},
    agents: [...configuredAgents("user", user.agents), ...configuredAgents("project", config.agents)],
    passEnv: [...new Set([user.defaults, config.defaults, project].flatMap((layer) => layer?.passEnv ?? []))],
    restoreOnBoot: defaults.restoreOnBoot,
    idleStopMinutes: defaults.idleStopMinutes,
    maxSessions: defaults.maxSessions ?? null,
    spareWorktrees: defaults.spareWorktrees ?? null,
    stuckMinutes: defaults.stuckMinutes,
    contain: tightenedBy(
      wishOf(user.defaults?.contain),
      { ...wishOf(config.defaults?.contain), ...wishOf(project.contain) },
      // Without trust `read` and `write` of the file are gone by now.
      true,
    ),
    configFile: request.file,
    trust: { ...trust, notices: [...trust.notices, ...(tracker?.refused == null ? [] : [tracker.refused])] },
  };
}

function wishOf(contain: ContainConfig | undefined): ContainmentWish {
  return typeof contain === "string" ? { mode: contain } : (contain ?? {});
}

/** Relative paths are relative to the file they stand in; `~/` is the person's home. */
export function resolvePath(path: string, file: string, home: string): string {
  if (path === "~" || path.startsWith("~/")) return join(home, path.slice(1));
  return resolve(dirname(file), path);
}
