/**
 * Which parts of a repository's holdfast.yaml need the user's trust, and the rest of the file without it. The digest
 * covers exactly these parts in a canonical order: comments, the order of keys and harmless settings do not change it.
 */
import { createHash } from "node:crypto";
import { builtInIds, idsWithoutTrust } from "../agents/registry.ts";
import { type TrustPart, isOff, type TrustState } from "../contract/trust.ts";
import type { AgentConfig, ContainConfig, HoldfastConfig, ProjectConfig, UserConfig } from "./schema.ts";
import { realpathSync } from "node:fs";
import { dirname, relative, sep } from "node:path";
import type { SettingsTrust } from "../ports/projects.ts";
import type { TrustDecisions, TrustQuestion } from "../ports/trust.ts";

export interface Judged {
  config: HoldfastConfig;
  trust: SettingsTrust;
}

/** For a repository that no file describes. */
export const noFile: Judged = { config: {}, trust: { state: "none", digest: null, notices: [] } };

export function questionOf(file: string, config: HoldfastConfig, user: UserConfig): TrustQuestion {
  const parts = trustParts(config);
  return { file, parts, digest: digestOfParts(parts), notices: ignored(file, config, user) };
}

export function judge(
  file: string,
  config: HoldfastConfig,
  of: { path: string; user: UserConfig; answers: TrustDecisions },
): Judged {
  if (!isWithin(dirname(file), of.path)) {
    // Registered by an earlier version that allowed it.
    const notice = `${file} describes ${of.path}, which is outside its directory, and is ignored. Register the repository itself: holdfast project add ${of.path}`;
    return { config: {}, trust: { state: "none", digest: null, notices: [notice] } };
  }
  const { parts, digest, notices } = questionOf(file, config, of.user);
  const state: TrustState = parts.length === 0 ? "none" : of.answers.stateOf(file, digest);
  return { config: isOff(state) ? withoutTrust(config) : config, trust: { state, digest, notices } };
}

/** With links resolved: a committed link may lead anywhere. */
export function isWithin(directory: string, path: string): boolean {
  const way = relative(real(directory), real(path));
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !way.startsWith(sep));
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Settings that a repository may never have. */
function ignored(file: string, config: HoldfastConfig, user: UserConfig): string[] {
  return [
    ...(config.notify === undefined
      ? []
      : [`notify in ${file} is ignored. Set notify in your own config.yaml instead.`]),
    ...refusedAgents(config, user).map(
      (id) =>
        `agents.${id} in ${file} is ignored: a repository cannot replace the agent ${id}. Give its agent another name.`,
    ),
  ];
}

type Agents = NonNullable<HoldfastConfig["agents"]>;

export function trustParts(config: HoldfastConfig): TrustPart[] {
  const { defaults, projects = {} } = config;
  const agents = ownAgents(config);
  return [
    ...chosen("defaults.agent", defaults?.agent, agents),
    ...listed("defaults.passEnv", defaults?.passEnv),
    ...containParts("defaults.contain", defaults?.contain),
    ...sorted(projects).flatMap(([id, project]) => projectParts(`projects.${id}`, project, agents)),
    ...sorted(agents).flatMap(([id, agent]) => agentParts(`agents.${id}`, agent)),
  ];
}

/** SHA-256, because a hostile author chooses the text. */
export function digestOfParts(parts: readonly TrustPart[]): string {
  const text = JSON.stringify(parts.map(({ key, value }) => [key, value]));
  return createHash("sha256").update(text).digest("hex");
}

/** The file without its parts that need trust. */
export function withoutTrust(config: HoldfastConfig): HoldfastConfig {
  const { defaults, projects } = config;
  const agents = ownAgents(config);
  const { passEnv: _, contain, ...rest } = defaults ?? {};
  return {
    ...(defaults === undefined ? {} : { defaults: withoutChosen({ ...rest, ...tightening(contain) }, agents) }),
    ...(projects === undefined
      ? {}
      : {
          projects: Object.fromEntries(
            Object.entries(projects).map(([id, project]) => [id, withoutChosen(plainProject(project), agents)]),
          ),
        }),
  };
}

/** Without entries that would replace a built-in agent: they are always ignored. */
function ownAgents({ agents = {} }: HoldfastConfig): Agents {
  const replaced = new Set(refusedAgents({ agents }, {}));
  return Object.fromEntries(Object.entries(agents).filter(([id]) => !replaced.has(id)));
}

function plainProject({ path, prefix, defaultBranch, agent, kind, contain }: ProjectConfig): ProjectConfig {
  const all = { path, prefix, defaultBranch, agent, kind, ...tightening(contain) };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/**
 * `worktree` and `network` only restrict a session further; `read` and `write` open it. A dev container is built from the
 * repository's own files, and untrusted ones would keep every session from starting.
 */
function tightening(contain: ContainConfig | undefined): { contain?: ContainConfig } {
  if (contain === undefined || contain === "devcontainer") return {};
  if (typeof contain === "string") return { contain };
  const { mode, network } = contain;
  return {
    contain: {
      ...(mode === undefined || mode === "devcontainer" ? {} : { mode }),
      ...(network === undefined ? {} : { network }),
    },
  };
}

function containParts(at: string, contain: ContainConfig | undefined): TrustPart[] {
  if (contain === undefined) return [];
  const { mode, read, write } = typeof contain === "string" ? { mode: contain } : contain;
  return [
    ...(mode === "devcontainer" ? [{ key: at, value: mode }] : []),
    ...listed(`${at}.read`, read),
    ...listed(`${at}.write`, write),
  ];
}

function withoutChosen<T extends { agent?: string | undefined }>(layer: T, agents: Agents): T {
  if (layer.agent === undefined || isHarmless(layer.agent, agents)) return layer;
  const { agent: _, ...rest } = layer;
  return rest as T;
}

/** A built-in agent that the file does not change. */
function isHarmless(agent: string, agents: Agents): boolean {
  return idsWithoutTrust.includes(agent) && agents[agent] === undefined;
}

function projectParts(at: string, project: ProjectConfig, agents: Agents): TrustPart[] {
  const { agent, env, passEnv, symlinks, copy, postCreate, tracker, reactions, contain } = project;
  return [
    ...chosen(`${at}.agent`, agent, agents),
    ...listed(`${at}.postCreate`, postCreate),
    ...mapped(`${at}.env`, env),
    ...listed(`${at}.passEnv`, passEnv),
    ...listed(`${at}.symlinks`, symlinks),
    ...listed(`${at}.copy`, copy),
    ...containParts(`${at}.contain`, contain),
    ...(tracker === undefined ? [] : [{ key: `${at}.tracker`, value: canonical(tracker) }]),
    ...mapped(`${at}.reactions`, reactions),
  ];
}

function agentParts(at: string, { terminal = {}, chat = {}, env, ...rest }: AgentConfig): TrustPart[] {
  return [
    ...mapped(`${at}.terminal`, terminal),
    ...mapped(`${at}.chat`, chat),
    ...mapped(at, rest),
    ...mapped(`${at}.env`, env),
  ];
}

function chosen(key: string, agent: string | undefined, agents: Agents): TrustPart[] {
  return agent === undefined || isHarmless(agent, agents) ? [] : [{ key, value: agent }];
}

function listed(key: string, values: readonly string[] = []): TrustPart[] {
  return values.map((value) => ({ key, value }));
}

function mapped(at: string, values: object = {}): TrustPart[] {
  return sorted(values as Record<string, unknown>).flatMap(([name, value]) =>
    value === undefined ? [] : [{ key: `${at}.${name}`, value: typeof value === "string" ? value : canonical(value) }],
  );
}

function sorted<T>(map: Record<string, T>): [string, T][] {
  return Object.entries(map).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** JSON with the keys of maps in order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(sorted(inner as Record<string, unknown>))
      : inner,
  );
}

/** Without a command an entry only extends a built-in agent, within the project. */
export function refusedAgents({ agents = {} }: HoldfastConfig, user: Pick<UserConfig, "agents">): string[] {
  const taken = new Set<string>([...builtInIds, ...Object.keys(user.agents ?? {})]);
  return Object.entries(agents)
    .filter(([id, { terminal, chat }]) => taken.has(id) && (terminal?.command ?? chat?.command) !== undefined)
    .map(([id]) => id);
}
