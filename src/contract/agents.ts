/** Agents that every installation has. A configuration file may extend these by name, and replace them. */
export const builtInAgents = ["claude", "codex", "gemini", "opencode", "demo", "shell"] as const;

/** Those of them that can be given a model. */
export const agentsWithModel = ["claude", "codex", "gemini", "opencode"] as const;

/** Those that a repository may pick without trust: text of strangers is a prompt to them. In `shell` it would be a command. */
export const agentsWithoutTrust: readonly string[] = [...agentsWithModel, "demo"];

/** Actor of a choice that a configuration file made: it is not kept as the user's own. */
export const configurationActor = "configuration";
