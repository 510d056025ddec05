/** Projects as the daemon sees them: the registered row with the current settings of the files. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { AgentConfiguration } from "../ports/agents.ts";
import type { ConfiguredAgents, Projects } from "../ports/projects.ts";
import type { ProjectRow } from "../ports/store.ts";
import type { TrustDecisions } from "../ports/trust.ts";
import { HoldfastError } from "../contract/errors.ts";
import { configuredAgents, resolveProject, type ResolvedProject } from "./resolve.ts";
import { ConfigCache } from "./load.ts";
import { configAt, projectsAt, requireRepository } from "./discover.ts";
import { configName, defaultBranchOf, remoteTrackerOf } from "./repository.ts";
import type { HoldfastConfig, UserConfig } from "./schema.ts";
import { judge, noFile, questionOf, type Judged } from "./trust.ts";
import { quoteShellWord } from "../model/text.ts";

export interface OpenProjectsOptions {
  /** The user's own config.yaml. */
  userConfig: string;
  /** The user's answers about repositories' files. */
  trust: TrustDecisions;
  /** Called with the agents of a project before its settings are used. */
  onAgents?: (project: string, agents: AgentConfiguration[]) => void | Promise<void>;
  now?: () => number;
}

export type Settings = Omit<ResolvedProject, "defaultBranch"> & { defaultBranch: string };

export interface ConfiguredProjects extends Projects {
  settings(row: ProjectRow): Promise<Settings>;
  /** The agents of the user's file and of the projects' files. */
  agents(rows: readonly ProjectRow[]): Promise<ConfiguredAgents>;
}

export function openProjects(options: OpenProjectsOptions): ConfiguredProjects {
  const now = options.now ?? Date.now;
  const cache = new ConfigCache(now);
  const userFile = options.userConfig;
  const { trust } = options;
  return {
    async at(path, taken, { move = false } = {}) {
      const projects = await projectsAt(path, taken, { userFile, cache, move });
      return projects.map(({ id, path, prefix, configFile }) => ({ id, path, prefix, configFile, addedAt: now() }));
    },
    async settings(row) {
      const settings = await projectSettings(row, cache, userFile, trust);
      await options.onAgents?.(row.id, settings.agents);
      return settings;
    },
    async trustOf({ id, configFile }) {
      if (configFile === null) return null;
      const config = await registeredConfig(cache, id, configFile);
      return questionOf(configFile, config, (await cache.require(userFile, "user")).config);
    },
    async trustAt(path) {
      const file = configAt(path);
      if (file === null) return null;
      return questionOf(file, (await cache.require(file)).config, (await cache.require(userFile, "user")).config);
    },
    async agents(rows) {
      const user = await cache.load(userFile, "user");
      const own = user.ok ? user.config : {};
      const ofFile = async (file: string, path: string): Promise<AgentConfiguration[] | null> => {
        const loaded = await cache.load(file);
        if (!loaded.ok) return null;
        const { config } = judge(file, loaded.config, { path, user: own, answers: trust });
        return configuredAgents("project", config.agents);
      };
      const projects = await Promise.all(
        rows.map(async ({ id, path, configFile }) => {
          return [id, configFile === null ? [] : await ofFile(configFile, path)] as const;
        }),
      );
      return {
        user: user.ok ? configuredAgents("user", user.config.agents) : null,
        projects: Object.fromEntries(projects),
      };
    },
  };
}

/** A file added after `project add` is ignored. The user must notice: it may be meant to contain agents. */
function unregistered({ path }: ProjectRow): Judged {
  const file = join(path, configName);
  if (!existsSync(file)) return noFile;
  const notice = `${file} is not registered and does not count. Register it: holdfast project add ${quoteShellWord(path)}`;
  return { ...noFile, trust: { ...noFile.trust, notices: [notice] } };
}

/** Throws a HoldfastError with file and line if the configuration is wrong. */
async function projectSettings(
  row: ProjectRow,
  cache: ConfigCache,
  userFile: string,
  answers: TrustDecisions,
): Promise<Settings> {
  const user: UserConfig = (await cache.require(userFile, "user")).config;
  const { config, trust } =
    row.configFile === null
      ? unregistered(row)
      : judge(row.configFile, await registeredConfig(cache, row.id, row.configFile), { path: row.path, user, answers });
  const repository = requireRepository(row.path);
  const { id, path, prefix, configFile: file } = row;
  const remote = remoteTrackerOf(repository, user.trackers);
  const project = resolveProject({ id, path, prefix, file, config, trust, user, remote });
  const defaultBranch = project.defaultBranch ?? defaultBranchOf(repository);
  if (defaultBranch !== null) return { ...project, defaultBranch };
  throw new HoldfastError("invalid", `Cannot detect the default branch of ${path}.`, {
    hint: `Set projects.${id}.defaultBranch in ${file ?? join(path, configName)}.`,
  });
}

async function registeredConfig(cache: ConfigCache, id: string, file: string): Promise<HoldfastConfig> {
  if (!existsSync(file)) {
    throw new HoldfastError("invalid", `${file}, which describes project ${id}, no longer exists.`, {
      hint: `Restore it, or run \`holdfast project rm ${id}\` and \`holdfast project add ${quoteShellWord(dirname(file))}\`.`,
    });
  }
  const { config } = await cache.require(file);
  const ids = Object.keys(config.projects ?? {});
  // Without `projects` the file describes its own repository.
  if (ids.length === 0 || ids.includes(id)) return config;
  throw new HoldfastError("invalid", `Project ${id} is no longer in ${file}.`, {
    hint: `It has ${ids.join(", ")}. Run \`holdfast project add ${quoteShellWord(dirname(file))}\` to register them.`,
  });
}
