/** Settings that were kept of a file, without what needs the user's trust. */
import type { ProjectSettings } from "../ports/projects.ts";

export function untrustedSettings(settings: ProjectSettings, agentsWithoutTrust: readonly string[]): ProjectSettings {
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
    // Settings of an early build have none.
    agents: (settings.agents ?? []).filter(({ from }) => from === "user"),
  };
}
