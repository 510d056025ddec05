/** What this daemon works with, for a page of settings: its options, its agents and whether they are there, its projects. */
import { existsSync } from "node:fs";
import { build, version } from "../base/program.ts";
import type { AgentDefinition } from "../ports/agents.ts";
import type { ProjectSettings } from "../ports/projects.ts";
import { asProjectId, kinds } from "../contract/ids.ts";
import type { SettingsJson } from "../contract/daemon.ts";
import type { ProjectJson } from "../contract/project.ts";
import type { Services } from "../supervisor/services.ts";
import { missingTools } from "./spawn.ts";

export function settings(
  parts: Services,
  options: { readOnly: boolean; configFile: string },
  projects: ProjectJson[],
): SettingsJson {
  const files = [options.configFile, ...projects.map(({ configFile }) => configFile)];
  return {
    version,
    build,
    home: parts.home,
    readOnly: options.readOnly,
    agents: agentsJson(parts, projects),
    projects,
    notify: null,
    configFiles: [...new Set(files)].filter((file) => file !== null && existsSync(file)) as string[],
    trashDays: parts.workspaces.trashDays,
  };
}

/** Those that every project has, then what single projects define themselves. */
function agentsJson(parts: Services, projects: readonly ProjectJson[]): SettingsJson["agents"] {
  const common = parts.agents.list(null).map((agent) => agentJson(agent, {}));
  const own = projects.flatMap(({ id }) => {
    const env = parts.settings.last(asProjectId(id))?.env ?? {};
    const agents = parts.agents.list(id).filter(({ from }) => from === "project");
    return agents.map((agent) => ({ ...agentJson(agent, env), project: id }));
  });
  return [...common, ...own];
}

function agentJson(agent: AgentDefinition, env: ProjectSettings["env"]): SettingsJson["agents"][number] {
  const own = kinds.filter((kind) => agent[kind] !== null);
  const missing = own.map((kind) => missingTools(agent, kind, env));
  const reasons = [...new Set(missing.flat())];
  return {
    id: agent.id,
    name: agent.label,
    kinds: own,
    installed: missing.some((found) => found.length === 0),
    command: agent.terminal?.start[0] ?? agent.chat?.command[0] ?? "",
    reason: reasons.length === 0 ? null : reasons.join(" "),
  };
}
