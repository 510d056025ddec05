/** What is run for a launch: argv and environment, from the agent's data and the session. Pure. */
import type { AgentDefinition, TerminalAgent } from "../ports/agents.ts";
import type { LaunchRequest } from "../ports/runtime.ts";
import { launchMarker } from "./identity.ts";
import { isCommand } from "./input.ts";

/** Linux takes 128 KiB in one argument; longer prompts are pasted once the agent runs. */
const maxArgumentBytes = 100 * 1024;

export interface Placeholders {
  id: string;
  prompt: string;
  hooks: string;
}

/** One pass, so that a prompt that contains `{id}` stays as it is. */
export function fill(text: string, values: Placeholders): string {
  return text.replaceAll(/\{(id|prompt|hooks)\}/g, (_, name: keyof Placeholders) => values[name]);
}

/**
 * Whether the first prompt can be an argument: not too long, and not to be mistaken for an option. A command of the
 * agent's own is typed: nothing would confirm it.
 */
export function fitsArgument(prompt: string): boolean {
  return (
    prompt.trim() !== "" &&
    !prompt.startsWith("-") &&
    !isCommand(prompt) &&
    Buffer.byteLength(prompt) <= maxArgumentBytes
  );
}

export interface AgentCommand {
  argv: string[];
  promptTaken: boolean;
}

export function agentCommand(agent: TerminalAgent, request: LaunchRequest, values: Placeholders): AgentCommand {
  const resuming = request.how === "resume" && agent.resume !== null;
  const base = resuming ? agent.resume! : agent.start;
  const promptArgs = resuming ? agent.resumePrompt : agent.startPrompt;
  const isArgument = promptArgs !== null && fitsArgument(values.prompt);
  const promptTaken = request.prompt !== null && isArgument;
  const argv = [...base, ...(promptTaken ? promptArgs : [])].map((part) => fill(part, values));
  return { argv, promptTaken };
}

/** Of the surroundings: what would tell the agent that it runs elsewhere, or in somebody else's session. */
const notPassedOn =
  /^(TMUX|HOLDFAST_(?!HOME$|TEST_)|TERM$|TERM_PROGRAM|STY$|WINDOWID$|SHLVL$|PWD$|OLDPWD$|COLUMNS$|LINES$)/;

export function agentEnvironment(
  base: NodeJS.ProcessEnv,
  agent: AgentDefinition,
  request: LaunchRequest,
  values: Placeholders,
): Record<string, string> {
  const env: Record<string, string> = { COLORTERM: "truecolor" };
  for (const [name, value] of Object.entries(base)) {
    if (value !== undefined && !notPassedOn.test(name)) env[name] = value;
  }
  for (const layer of [agent.env, agent.terminal?.env ?? {}, request.env]) {
    for (const [name, value] of Object.entries(layer)) env[name] = fill(value, values);
  }
  env["HOLDFAST_SESSION"] = request.session.id;
  env[launchMarker] = request.launch;
  return env;
}
