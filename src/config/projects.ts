/** The daemon's view of projects: the registered row, with what the files say now. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { AgentDefinition } from "../ports/agents.ts";
import type { Projects } from "../ports/projects.ts";
import type { ProjectRow } from "../ports/store.ts";
import { HoldfastError } from "../protocol/error.ts";
import { customAgents } from "./agents.ts";
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
  /** Told the agents that a project's files define, before its settings are used. */
  onAgents?: (found: AgentDefinition[]) => void | Promise<void>;
  now?: () => number;
}

export type Settings = Omit<ResolvedProject, "defaultBranch"> & { defaultBranch: string };

export interface ConfiguredProjects extends Projects {
  settings(row: ProjectRow): Promise<Settings>;
  /** Agents defined by the person's file and by those of the projects. A file that is wrong adds none: start-up goes on. */
  agents(rows: readonly ProjectRow[]): Promise<AgentDefinition[]>;
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
      if (settings.agents.length > 0) await options.onAgents?.(settings.agents);
      return settings;
    },
    async agents(rows) {
      const files = [...new Set(rows.flatMap((row) => row.configFile ?? []))];
      const loaded = await Promise.all([cache.load(userFile, "user"), ...files.map((file) => cache.load(file))]);
      return customAgents(...loaded.map((each) => (each.ok ? each.config.agents : undefined)));
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
