/**
 * The settings of one project: the project's own, over the file's `defaults`, over the user's config.yaml, over the
 * built-in defaults. A repository's file or remote only points to a tracker: variables with tokens and secrets are bound to
 * hosts in the user's config.yaml, or are the standard ones of a public service. Pure: facts from disk are passed in.
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

/** Null without a tracker, and if its repository is unknown; see `needsRepo`. */
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

type Target = Pick<ProjectTracker, "type" | "repo" | "baseUrl">;

function bound(
  target: Target,
  configured: Pick<TrackerConfig, "tokenEnv" | "webhookSecretEnv">,
  hosts: TrackerHosts,
): ProjectTracker {
  const { type, baseUrl } = target;
  const host = baseUrl === null ? trackers[type].publicHost : new URL(baseUrl).host;
  const entry = Object.hasOwn(hosts, host) ? hosts[host] : undefined;
  const own = entry?.type === type ? entry : undefined;
  const isStandard = baseUrl === null && trackers[type].variables.includes(configured.tokenEnv ?? "");
  const refused = (["tokenEnv", "webhookSecretEnv"] as const).flatMap((key) => {
    const name = configured[key];
    if (name === undefined || name === own?.[key] || (key === "tokenEnv" && isStandard)) return [];
    return [
      `${key} names ${name} for ${host}, which your own config.yaml does not bind to it. ` +
        `To allow it, add there: trackers: {"${host}": {type: ${type}, ${key}: ${name}}}`,
    ];
  });
  const tokenRefused = configured.tokenEnv !== undefined && configured.tokenEnv !== own?.tokenEnv && !isStandard;
  return {
    ...target,
    tokenEnv: tokenRefused ? null : (own?.tokenEnv ?? configured.tokenEnv ?? null),
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
  /** The user's answer about the file; `config` contains only the parts that count. */
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
    // Only the user configures notifications.
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
      // `read` and `write` of an untrusted file were removed before.
      true,
    ),
    configFile: request.file,
    trust: { ...trust, notices: [...trust.notices, ...(tracker?.refused == null ? [] : [tracker.refused])] },
  };
}

function wishOf(contain: ContainConfig | undefined): ContainmentWish {
  return typeof contain === "string" ? { mode: contain } : (contain ?? {});
}

/** Relative to the file; `~/` is the user's home. */
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
