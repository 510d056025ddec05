/**
 * What holds for one project: built-in defaults, below the person's own config.yaml, below the file's `defaults`, below the
 * project itself. Pure: what has to be looked up on disk is handed in.
 */
import { dirname, join, resolve } from "node:path";
import type { ProjectSettings, ProjectTracker } from "../ports/projects.ts";
import { tightenedBy, type ContainmentWish } from "../contract/containment.ts";
import { asProjectId } from "../contract/ids.ts";
import { trackers } from "../integrations/trackers/registry.ts";
import type { TrustState } from "../contract/trust.ts";
import type { RemoteTracker } from "./repository.ts";
import {
  builtInDefaults,
  type ContainConfig,
  type DefaultsConfig,
  type HoldfastConfig,
  type ProjectConfig,
  type UserConfig,
  type AgentConfig,
  type TrackerConfig,
  type TrackerHosts,
} from "./schema.ts";
import type { AgentConfiguration } from "../ports/agents.ts";

/** Null also if a tracker is named whose repository is not known; `needsRepo` tells these apart. */
export function resolveTracker(
  tracker: TrackerConfig | undefined,
  remote: RemoteTracker | null,
  hosts: TrackerHosts,
): ProjectTracker | null {
  if (tracker === undefined) return remote === null ? null : bound({ ...remote }, {}, hosts);
  const same = remote?.type === tracker.type ? remote : null;
  const repo = tracker.repo ?? same?.repo;
  if (repo === undefined) return null;
  return bound({ type: tracker.type, repo, baseUrl: tracker.baseUrl ?? same?.baseUrl ?? null }, tracker, hosts);
}

export function needsRepo(tracker: TrackerConfig | undefined, remote: RemoteTracker | null): boolean {
  return tracker !== undefined && tracker.repo === undefined && remote?.type !== tracker.type;
}

type Position = Pick<ProjectTracker, "type" | "repo" | "baseUrl">;

function bound(
  place: Position,
  said: Pick<TrackerConfig, "tokenEnv" | "webhookSecretEnv">,
  hosts: TrackerHosts,
): ProjectTracker {
  const { type, baseUrl } = place;
  const host = baseUrl === null ? trackers[type].publicHost : new URL(baseUrl).host;
  const entry = Object.hasOwn(hosts, host) ? hosts[host] : undefined;
  const own = entry?.type === type ? entry : undefined;
  const asUsual = baseUrl === null && trackers[type].variables.includes(said.tokenEnv ?? "");
  const refused = (["tokenEnv", "webhookSecretEnv"] as const).flatMap((key) => {
    const name = said[key];
    if (name === undefined || name === own?.[key] || (key === "tokenEnv" && asUsual)) return [];
    return [
      `${key} names ${name} for ${host}, which your own config.yaml does not bind to it. ` +
        `To allow it, add there: trackers: {"${host}": {type: ${type}, ${key}: ${name}}}`,
    ];
  });
  const tokenRefused = said.tokenEnv !== undefined && said.tokenEnv !== own?.tokenEnv && !asUsual;
  return {
    ...place,
    tokenEnv: tokenRefused ? null : (own?.tokenEnv ?? said.tokenEnv ?? null),
    webhookSecretEnv: own?.webhookSecretEnv ?? null,
    isBound: own !== undefined,
    refused: refused.length === 0 ? null : refused.join(" "),
    tokenRefused,
  };
}

export interface ResolvedProject extends Omit<ProjectSettings, "defaultBranch"> {
  /** Null: detect. */
  defaultBranch: string | null;
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
    // A tracker without code, such as Linear: pull requests are at the remote's host.
    codeHost:
      tracker === null || trackers[tracker.type].hasCode ? tracker : resolveTracker(undefined, request.remote, hosts),
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

export function configuredAgents(
  from: AgentConfiguration["from"],
  agents: Record<string, AgentConfig> | undefined,
): AgentConfiguration[] {
  return Object.entries(agents ?? {}).map(([id, { terminal, chat, args = [], env = {}, model = null }]) => ({
    id,
    from,
    terminal: terminal === undefined ? null : terminalOf(terminal),
    chat: chat === undefined ? null : { command: chat.command ?? null, args: chat.args ?? [] },
    args,
    env,
    model,
  }));
}

function terminalOf({ command, resume, args }: NonNullable<AgentConfig["terminal"]>): AgentConfiguration["terminal"] {
  return { command: command ?? null, resume: resume ?? null, args: args ?? [] };
}
