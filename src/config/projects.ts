/** The daemon's view of projects: the registered row, with what the files say now. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { AgentConfiguration } from "../ports/agents.ts";
import type { ConfiguredAgents, Projects } from "../ports/projects.ts";
import type { ProjectRow } from "../ports/store.ts";
import { HoldfastError } from "../protocol/error.ts";
import { configuredAgents } from "./agents.ts";
import { ConfigCache } from "./cache.ts";
import { configName, projectsAt, requireRepository } from "./discover.ts";
import { problemsError } from "./problem.ts";
import { defaultBranchOf, remoteTrackerOf } from "./repository.ts";
import { resolveProject, type ResolvedProject } from "./resolve.ts";
import type { HoldfastConfig } from "./schema.ts";
import { userConfig } from "./user-config.ts";

export interface OpenProjectsOptions {
  /** The person's own config.yaml. */
  userConfig: string;
  /** Called with what the files say of agents for a project, before its settings are used. */
  onAgents?: (project: string, said: AgentConfiguration[]) => void | Promise<void>;
  now?: () => number;
}

export type Settings = Omit<ResolvedProject, "defaultBranch"> & { defaultBranch: string };

export interface ConfiguredProjects extends Projects {
  settings(row: ProjectRow): Promise<Settings>;
  /** What the user's file and those of the projects say of agents. */
  agents(rows: readonly ProjectRow[]): Promise<ConfiguredAgents>;
}

export function openProjects(options: OpenProjectsOptions): ConfiguredProjects {
  const now = options.now ?? Date.now;
  const cache = new ConfigCache(now);
  const userFile = options.userConfig;
  return {
    async at(path, taken) {
      const projects = await projectsAt(path, taken, { userFile, cache });
      return projects.map(({ id, path, prefix, configFile }) => ({ id, path, prefix, configFile, addedAt: now() }));
    },
    async settings(row) {
      const settings = await projectSettings(row, cache, userFile);
      await options.onAgents?.(row.id, settings.agents);
      return settings;
    },
    async agents(rows) {
      const user = await cache.load(userFile, "user");
      const ofFile = async (file: string): Promise<AgentConfiguration[] | null> => {
        const loaded = await cache.load(file);
        return loaded.ok ? configuredAgents("project", loaded.config.agents) : null;
      };
      const projects = await Promise.all(
        rows.map(async ({ id, configFile }) => [id, configFile === null ? [] : await ofFile(configFile)] as const),
      );
      return {
        user: user.ok ? configuredAgents("user", user.config.agents) : null,
        projects: Object.fromEntries(projects),
      };
    },
  };
}

/** What holds for a registered project now. Throws a HoldfastError that names file and line when the file is wrong. */
async function projectSettings(row: ProjectRow, cache: ConfigCache, userFile: string): Promise<Settings> {
  const user = await userConfig(cache, userFile);
  const config = row.configFile === null ? {} : await registeredConfig(cache, row.id, row.configFile);
  const repository = requireRepository(row.path);
  const { id, path, prefix, configFile: file } = row;
  const project = resolveProject({ id, path, prefix, file, config, user, remote: remoteTrackerOf(repository) });
  const defaultBranch = project.defaultBranch ?? defaultBranchOf(repository);
  if (defaultBranch !== null) return { ...project, defaultBranch };
  throw new HoldfastError("invalid", `The default branch of ${path} cannot be told from its files.`, {
    hint: `Set projects.${id}.defaultBranch in ${file ?? join(path, configName)}.`,
  });
}

async function registeredConfig(cache: ConfigCache, id: string, file: string): Promise<HoldfastConfig> {
  if (!existsSync(file)) {
    throw new HoldfastError("invalid", `${file}, which describes project ${id}, is gone.`, {
      hint: `Put it back, or run \`holdfast project rm ${id}\` and \`holdfast project add ${dirname(file)}\`.`,
    });
  }
  const loaded = await cache.load(file);
  if (!loaded.ok) throw problemsError(loaded.problems);
  const ids = Object.keys(loaded.config.projects ?? {});
  // Without `projects` the file describes the repository it stands in.
  if (ids.length === 0 || ids.includes(id)) return loaded.config;
  throw new HoldfastError("invalid", `Project ${id} is no longer in ${file}.`, {
    hint: `It has ${ids.join(", ")}. Run \`holdfast project add ${dirname(file)}\` to register them.`,
  });
}
