/**
 * Sessions that are a plain shell. A shell is the person's own: whatever is typed there runs, and what runs there counts
 * as the person. So no agent and no outside text may reach one.
 */
import type { SessionState } from "./session.ts";

/** Shells that take commands from a terminal. */
const programs = new Set("sh ash bash csh dash elvish fish ksh mksh nu pwsh rbash tcsh xonsh zsh".split(" "));

/** @param start argv of the agent in a terminal; null where it has none. */
export function isShell(
  { role, agent }: Pick<SessionState, "role" | "agent">,
  start: readonly string[] | null = null,
): boolean {
  return role === "shell" || agent === "shell" || (start !== null && isPlainShell(start));
}

/** With a script or `-c` it is a wrapper around something else. */
function isPlainShell([program = "", ...args]: readonly string[]): boolean {
  const name = program.slice(program.lastIndexOf("/") + 1);
  return programs.has(name) && args.every((word) => /^-(?!c$)/.test(word));
}
