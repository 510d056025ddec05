/** Names that a repository's agents may not have. The registry does not take such entries; here they are found to be named. */
import { builtInIds } from "../agents/registry.ts";
import type { HoldfastConfig, UserConfig } from "./schema.ts";

/** Without a command an entry only extends a built-in agent, within the project. */
export function refusedAgents({ agents = {} }: HoldfastConfig, user: Pick<UserConfig, "agents">): string[] {
  const taken = new Set<string>([...builtInIds, ...Object.keys(user.agents ?? {})]);
  return Object.entries(agents)
    .filter(([id, { terminal, chat }]) => taken.has(id) && (terminal?.command ?? chat?.command) !== undefined)
    .map(([id]) => id);
}
