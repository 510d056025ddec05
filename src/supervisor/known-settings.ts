/**
 * The last valid settings of each project. An existing session must not depend on a holdfast.yaml that the user is editing;
 * only a new session requires a valid file. Values of `env` may be secrets: they are kept in a file that only its owner
 * reads, and out of the database and its backups.
 */
import type { ProjectSettings } from "../ports/projects.ts";
import type { ProjectRow } from "../ports/store.ts";
import { notContained } from "../contract/containment.ts";
import { HoldfastError } from "../contract/errors.ts";
import type { ProjectId } from "../contract/ids.ts";
import type { Services } from "./services.ts";
import { readJson, writeDurable } from "../base/durable-file.ts";
import type { Logger } from "../ports/api.ts";

type Kept = Omit<ProjectSettings, "passEnv" | "trust" | "contain"> &
  Partial<Pick<ProjectSettings, "passEnv" | "trust" | "contain">> & {
    configFile?: string | null;
    /** Variables whose values are in the project's file alone. Missing in settings of an earlier build. */
    envNames?: string[];
  };

/** Values of `env` may be secrets, and databases are copied: only PATH, which finds programs, is stored. */
function keptText(settings: ProjectSettings): string {
  const { PATH } = settings.env;
  const envNames = Object.keys(settings.env).filter((name) => name !== "PATH");
  return JSON.stringify({ ...settings, env: PATH === undefined ? {} : { PATH }, envNames } satisfies Kept);
}

function kept(
  text: string,
  values: Record<string, string>,
  agentsWithoutTrust: readonly string[],
): { settings: ProjectSettings; lost: string[] } {
  const { envNames = [], ...stored } = JSON.parse(text) as Kept;
  const found = Object.fromEntries(Object.entries(values).filter(([name]) => envNames.includes(name)));
  const settings = withTrust(stored, agentsWithoutTrust);
  return {
    settings: { ...settings, env: { ...settings.env, ...found } },
    lost: envNames.filter((name) => found[name] === undefined),
  };
}

/** An earlier build did not ask for trust: its stored parts of a repository's file need the user's answer first. */
function withTrust(settings: Kept, agentsWithoutTrust: readonly string[]): ProjectSettings {
  const { passEnv = [], contain = notContained, trust } = settings;
  if (trust !== undefined) return { ...settings, passEnv, contain, trust };
  if (settings.configFile === null) {
    return { ...settings, passEnv, contain, trust: { state: "none", digest: null, notices: [] } };
  }
  const undecided = { state: "undecided" as const, digest: null, notices: [] };
  return untrustedSettings({ ...settings, passEnv, contain, trust: undecided }, agentsWithoutTrust);
}

export type KnownSettings = ReturnType<typeof knownSettings>;

export function knownSettings(
  services: Pick<Services, "store" | "projects" | "log" | "trust"> & {
    keptEnv: SavedEnvironment;
    /** Agents that a repository may choose without trust. */
    agentsWithoutTrust: readonly string[];
  },
) {
  const { store, projects, log, trust, keptEnv, agentsWithoutTrust } = services;
  const key = (project: ProjectId): string => `project.${project}.settings`;
  const remembered = new Map<ProjectId, ProjectSettings | null>();
  const lost = new Map<ProjectId, readonly string[]>();

  /** Without reading a file. For a file not read since the daemon started, `env` has no values but PATH. */
  const last = (project: ProjectId): ProjectSettings | null => {
    if (!remembered.has(project)) {
      const text = store.getSetting(key(project));
      // An earlier build stored no agents and had no passEnv.
      const found = text === null ? null : kept(text, keptEnv.of(project), agentsWithoutTrust);
      remembered.set(project, found?.settings ?? null);
      lost.set(project, found?.lost ?? []);
    }
    const settings = remembered.get(project) ?? null;
    return settings === null ? null : stillTrusted(settings);
  };
  // The answer may have been withdrawn while the file was unreadable.
  const stillTrusted = (settings: ProjectSettings): ProjectSettings => {
    const { state, digest } = settings.trust;
    const file = store.projects().find(({ id }) => id === settings.id)?.configFile ?? null;
    if (state !== "trusted" || digest === null || file === null) return settings;
    const now = trust.stateOf(file, digest);
    return now === "trusted"
      ? settings
      : untrustedSettings({ ...settings, trust: { ...settings.trust, state: now } }, agentsWithoutTrust);
  };
  /** From the current file; throws if it is invalid. */
  const read = async (row: ProjectRow): Promise<ProjectSettings> => {
    const settings = await projects.settings(row);
    const text = keptText(settings);
    const { PATH: _, ...values } = settings.env;
    keptEnv.keep(row.id, values);
    if (text !== store.getSetting(key(row.id))) await store.putSetting(key(row.id), text);
    remembered.set(row.id, settings);
    lost.delete(row.id);
    return settings;
  };
  return {
    read,
    last,
    /** Variables without a known value: the file has been unreadable since the daemon started. */
    lostEnv: (project: ProjectId): readonly string[] => {
      const names = lost.get(project) ?? [];
      // Without trust the file's env has no effect, so none of it is missing.
      return names.length > 0 && last(project)?.trust.state === "trusted" ? names : [];
    },
    /** Removes values that an earlier build stored. */
    forgetValues: async (): Promise<void> => {
      for (const { id } of store.projects()) {
        const before = last(id);
        const text = store.getSetting(key(id));
        if (before === null || text === null || "envNames" in (JSON.parse(text) as Kept)) continue;
        await store.putSetting(key(id), keptText(before));
      }
    },
    /** From the current file, or from its last valid version. */
    forSession: async (project: ProjectId): Promise<ProjectSettings> => {
      const row = store.projects().find(({ id }) => id === project);
      const before = last(project);
      if (row === undefined) {
        if (before !== null) return before;
        throw new HoldfastError("not-found", `Unknown project: ${project}`);
      }
      try {
        return await read(row);
      } catch (error) {
        if (before === null) throw error;
        log.warn("cannot read a project's configuration; using its last valid version", { project, error });
        return before;
      }
    },
  };
}

type Values = Record<string, string>;

export type SavedEnvironment = ReturnType<typeof openSavedEnvironment>;

export function openSavedEnvironment(file: string, log: Pick<Logger, "warn">) {
  let all: Map<string, Values> | null = null;
  const read = (): Map<string, Values> => {
    if (all !== null) return all;
    const found = readJson(file);
    if (found.is === "damaged") log.warn("cannot read the stored values of projects' env", { why: found.why });
    return (all = new Map(found.is === "known" ? Object.entries(found.value as Record<string, Values>) : []));
  };
  return {
    of: (project: string): Values => read().get(project) ?? {},
    keep: (project: string, values: Values): void => {
      const before = read().get(project) ?? {};
      if (JSON.stringify(before) === JSON.stringify(values)) return;
      const next = new Map(read());
      if (Object.keys(values).length === 0) next.delete(project);
      else next.set(project, values);
      try {
        writeDurable(file, `${JSON.stringify(Object.fromEntries(next))}\n`);
        all = next;
      } catch (error) {
        // Only needed while the project's file is invalid.
        log.warn("could not store values of a project's env", { project, error });
      }
    },
  };
}

function untrustedSettings(settings: ProjectSettings, agentsWithoutTrust: readonly string[]): ProjectSettings {
  return {
    ...settings,
    agent: agentsWithoutTrust.includes(settings.agent) ? settings.agent : "claude",
    env: {},
    symlinks: [],
    copy: [],
    postCreate: [],
    passEnv: [],
    reactions: {},
    tracker: null,
    codeHost: null,
    notify: {},
    // Settings of an early build have no agents.
    agents: (settings.agents ?? []).filter(({ from }) => from === "user"),
  };
}
