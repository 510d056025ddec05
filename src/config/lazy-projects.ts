/** Projects, with the schema and the YAML reader loaded when a file is first read: a starting daemon needs neither. */
import { existsSync } from "node:fs";
import type { ConfiguredProjects, OpenProjectsOptions } from "./projects.ts";

export function openLazyProjects(options: OpenProjectsOptions): ConfiguredProjects {
  let opened: Promise<ConfiguredProjects> | undefined;
  const open = (): Promise<ConfiguredProjects> =>
    (opened ??= import("./projects.ts").then(({ openProjects }) => openProjects(options)));
  return {
    at: async (path, taken) => (await open()).at(path, taken),
    settings: async (row) => (await open()).settings(row),
    agents: async (rows) =>
      existsSync(options.userConfig) || rows.some((row) => row.configFile !== null) ? (await open()).agents(rows) : [],
  };
}
