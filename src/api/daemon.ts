/** The daemon itself: health, settings, checks, stop. */
import { existsSync } from "node:fs";
import { build, version } from "../base/program.ts";
import type { FindingJson, InfoJson, SettingsJson } from "../contract/daemon.ts";
import { asProjectId, kinds } from "../contract/ids.ts";
import type { ProjectJson } from "../contract/project.ts";
import type { LazyPush } from "../integrations/notifiers/lazy-push.ts";
import type { LazyTracking } from "../integrations/trackers/lazy-tracking.ts";
import { isLive } from "../model/runs.ts";
import type { AgentDefinition } from "../ports/agents.ts";
import type { Handlers } from "../ports/api.ts";
import type { ProjectSettings } from "../ports/projects.ts";
import type { Services } from "../supervisor/services.ts";
import { fullDoctor } from "./doctor.ts";
import type { Halt } from "./halt.ts";
import { ruleFindings } from "./permission.ts";
import { listProjects, trustFindings } from "./project.ts";
import { pushFindings } from "./push.ts";
import { missingTools } from "./spawn-checks.ts";
import { trackerFinding } from "./tracker.ts";

export interface DaemonOptions {
  info: () => InfoJson;
  /** Stops the daemon once the response is on its way. */
  shutDown: () => void;
  readOnly: boolean;
  /** The user's own configuration, whether or not it exists. */
  configFile: string;
  /** argv of the command line of this build. */
  cli: readonly string[];
  /** Checks that only this process can run: database, sockets. */
  selfCheck: () => Promise<FindingJson[]>;
  tracking: LazyTracking;
  push: LazyPush;
}

export function daemonHandlers(
  services: Services,
  halt: Halt,
  options: DaemonOptions,
): Handlers<"health" | "info" | "daemonStop" | "doctor" | "settings"> {
  const { store } = services;
  return {
    health: async ({ isKnown }) => {
      // A stranger only learns that it responds, and causes neither a write nor a query.
      if (!isKnown) return { ok: true };
      await store.probe();
      return { ok: true, version, build };
    },
    info: () => options.info(),
    daemonStop: async (request) => {
      const { haltSessions = false } = request.input;
      if (haltSessions) return halt.begin(request.actor);
      options.shutDown();
      return { kept: store.sessions().filter(({ run }) => isLive(run)).length, halted: [], remaining: [] };
    },
    doctor: async ({ query, signal }) => {
      if (query.full === "1") return fullDoctor(options.cli, signal);
      return [
        ...(await options.selfCheck()),
        ...trustFindings(await listProjects(services)),
        ...(await options.tracking.report()).map(trackerFinding),
        ...(options.push.isUsed() ? pushFindings(await options.push.open()) : []),
        ...(await ruleFindings(services)),
      ];
    },
    settings: async () => {
      const projects = await listProjects(services);
      const files = [options.configFile, ...projects.flatMap(({ configFile }) => configFile ?? [])];
      return {
        version,
        build,
        home: services.home,
        readOnly: options.readOnly,
        agents: agentsJson(services, projects),
        projects,
        notify: null,
        configFiles: [...new Set(files)].filter((file) => existsSync(file)),
        trashDays: services.workspaces.trashDays,
      };
    },
  };
}

/** Agents that every project has, then those of single projects. */
function agentsJson(services: Services, projects: readonly ProjectJson[]): SettingsJson["agents"] {
  const common = services.agents.list(null).map((agent) => agentJson(agent, {}));
  const own = projects.flatMap(({ id }) => {
    const env = services.settings.last(asProjectId(id))?.env ?? {};
    const agents = services.agents.list(id).filter(({ from }) => from === "project");
    return agents.map((agent) => ({ ...agentJson(agent, env), project: id }));
  });
  return [...common, ...own];
}

function agentJson(agent: AgentDefinition, env: ProjectSettings["env"]): SettingsJson["agents"][number] {
  const own = kinds.filter((kind) => agent[kind] !== null);
  const missing = own.map((kind) => missingTools(agent, kind, env));
  return {
    id: agent.id,
    name: agent.label,
    kinds: own,
    installed: missing.some((found) => found.length === 0),
    command: agent.terminal?.start[0] ?? agent.chat?.command[0] ?? "",
    reason: [...new Set(missing.flat().map(({ message }) => message))].join(" ") || null,
  };
}
