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
  define(project: string, agents: readonly AgentConfiguration[]): void;
  defineUser(agents: readonly AgentConfiguration[]): void;
}

/** The setting that stores the last valid entries of the user's file. */
const keptUser = "config.agents.user";

export function knownAgents(
  agents: Registry,
  { store, log }: Pick<Services, "log"> & { store: Pick<Services["store"], "getSetting" | "putSetting"> },
) {
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
    /** The agents of one project's valid files, including the user's. */
    async learn(project: string, found: readonly AgentConfiguration[]): Promise<void> {
      agents.define(project, found);
      await keep(ofUser(found));
    },
    /** Called when the daemon starts. */
    async begin({ user: found, projects }: ConfiguredAgents, settings: Pick<KnownSettings, "last">): Promise<void> {
      const user = found ?? lastUser(Object.keys(projects), settings);
      if (found === null) log.warn("cannot read the user's configuration; using its last valid agents", {});
      else await keep(found);
      agents.defineUser(user);
      for (const [id, own] of Object.entries(projects)) {
        const last = (): AgentConfiguration[] => settings.last(asProjectId(id))?.agents ?? [];
        agents.define(id, [...user, ...(own ?? last().filter(({ from }) => from === "project"))]);
      }
    },
  };
}

function ofUser(agents: readonly AgentConfiguration[]): AgentConfiguration[] {
  return agents.filter(({ from }) => from === "user");
}
