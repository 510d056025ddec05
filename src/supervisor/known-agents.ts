/**
 * Gives the registry the agents of the configuration files. A file that is wrong keeps what it last said: without its
 * arguments an agent would be another one, and sessions whose agent only that file defines could not start.
 */
import type { AgentConfiguration } from "../ports/agents.ts";
import type { ConfiguredAgents } from "../ports/projects.ts";
import { asProjectId } from "../contract/ids.ts";
import type { KnownSettings } from "./known-settings.ts";
import type { Services } from "./services.ts";

interface Registry {
  define(project: string, said: readonly AgentConfiguration[]): void;
  defineUser(said: readonly AgentConfiguration[]): void;
}

export interface KnownAgents {
  /** What good files say for one project, the user's entries included. */
  learn(project: string, said: readonly AgentConfiguration[]): Promise<void>;
  /** For a daemon that starts. */
  begin(said: ConfiguredAgents, settings: Pick<KnownSettings, "last">): Promise<void>;
}

/** The setting that holds the entries of the user's file as they last were good. */
const keptUser = "config.agents.user";

export function knownAgents(
  agents: Registry,
  { store, log }: Pick<Services, "log"> & { store: Pick<Services["store"], "getSetting" | "putSetting"> },
): KnownAgents {
  const keep = async (user: readonly AgentConfiguration[]): Promise<void> => {
    const text = JSON.stringify(user);
    if (store.getSetting(keptUser) === text) return;
    // A full disk must not keep a daemon from starting, or a session from its settings.
    await store
      .putSetting(keptUser, text)
      .catch((error: unknown) => log.warn("the agents of the user's configuration could not be kept", { error }));
  };
  const lastUser = (projects: string[], settings: Pick<KnownSettings, "last">): AgentConfiguration[] => {
    const text = store.getSetting(keptUser);
    if (text !== null) return JSON.parse(text) as AgentConfiguration[];
    // An earlier build kept them only within the settings of each project.
    const known = projects.map((id) => ofUser(settings.last(asProjectId(id))?.agents ?? []));
    return known.find((user) => user.length > 0) ?? [];
  };
  return {
    async learn(project, said) {
      agents.define(project, said);
      await keep(ofUser(said));
    },
    async begin({ user: said, projects }, settings) {
      const user = said ?? lastUser(Object.keys(projects), settings);
      if (said === null) log.warn("the user's configuration cannot be read; its last good agents are used", {});
      else await keep(said);
      agents.defineUser(user);
      for (const [id, own] of Object.entries(projects)) {
        const last = (): AgentConfiguration[] => settings.last(asProjectId(id))?.agents ?? [];
        agents.define(id, [...user, ...(own ?? last().filter(({ from }) => from === "project"))]);
      }
    },
  };
}

function ofUser(said: readonly AgentConfiguration[]): AgentConfiguration[] {
  return said.filter(({ from }) => from === "user");
}
