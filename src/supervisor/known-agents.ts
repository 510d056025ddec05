/**
 * Passes the agents of the configuration files to the registry. An invalid file keeps its last valid agents: without its
 * arguments an agent would behave differently, and sessions whose agent only that file defines could not start.
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
  /** The agents of one project's valid files, including the user's. */
  learn(project: string, said: readonly AgentConfiguration[]): Promise<void>;
  /** Called when the daemon starts. */
  begin(said: ConfiguredAgents, settings: Pick<KnownSettings, "last">): Promise<void>;
}

/** The setting that stores the last valid entries of the user's file. */
const keptUser = "config.agents.user";

export function knownAgents(
  agents: Registry,
  { store, log }: Pick<Services, "log"> & { store: Pick<Services["store"], "getSetting" | "putSetting"> },
): KnownAgents {
  const keep = async (user: readonly AgentConfiguration[]): Promise<void> => {
    const text = JSON.stringify(user);
    if (store.getSetting(keptUser) === text) return;
    // A full disk must not block a start of the daemon, or the settings of a session.
    await store
      .putSetting(keptUser, text)
      .catch((error: unknown) => log.warn("could not store the agents of the user's configuration", { error }));
  };
  const lastUser = (projects: string[], settings: Pick<KnownSettings, "last">): AgentConfiguration[] => {
    const text = store.getSetting(keptUser);
    if (text !== null) return JSON.parse(text) as AgentConfiguration[];
    // An earlier build stored them only in the settings of each project.
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
      if (said === null) log.warn("cannot read the user's configuration; using its last valid agents", {});
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
