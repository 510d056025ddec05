/** Agents that every installation has. A configuration file may extend these by name, and replace them. */
export const builtInAgents = ["claude", "codex", "gemini", "opencode", "demo", "shell"] as const;

/** Those of them that can be given a model. */
export const agentsWithModel = ["claude", "codex", "gemini", "opencode"] as const;

/** Actor of a choice that a configuration file made: it is not kept as the user's own. */
export const configurationActor = "configuration";
