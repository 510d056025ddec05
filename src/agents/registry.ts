/** What the rooms need to know about agents, read from the list in `built-in.ts`. */
import type { AgentDefinition, Machine } from "../ports/agents.ts";
import * as builtIn from "./built-in.ts";

/** @param demoCommand how the bundled demo agent runs in a terminal; `demoChat` runs the one that speaks ACP. */
export function thisMachine(demoCommand: string[] = [], demoChat: string[] = []): Machine {
  return {
    env: process.env,
    platform: process.platform,
    isRoot: process.getuid?.() === 0,
    demo: demoCommand,
    demoChat,
  };
}

/** By name; those that come with Holdfast last. */
export function builtInDefinitions(machine: Machine): AgentDefinition[] {
  const agents = Object.values(builtIn).map((agent) => (typeof agent === "function" ? agent(machine) : agent));
  return [...agents.filter(({ npm }) => npm !== undefined), ...agents.filter(({ npm }) => npm === undefined)];
}

/** For readers of names, packages and variables, which are the same on every machine. */
export const builtInAgents: readonly AgentDefinition[] = builtInDefinitions(thisMachine());

export const builtInIds: readonly string[] = builtInAgents.map(({ id }) => id);

/** Agents that accept a configured model. */
export const idsWithModel: readonly string[] = builtInAgents.flatMap(({ id, model }) =>
  model === undefined ? [] : id,
);

/** Agents that a repository may choose without trust: they read its text as a prompt. A shell would run it. */
export const idsWithoutTrust: readonly string[] = builtInAgents.flatMap(({ id, runsPrompts }) =>
  runsPrompts === true ? [] : id,
);

/** Agents to install, by the name that users type. */
export const installableIds: readonly string[] = builtInAgents.flatMap(({ id, npm }) => (npm === undefined ? [] : id));

/** Agents to install whose conversation can continue in the other kind. */
export const idsThatConvert: readonly string[] = builtInAgents.flatMap(({ id, npm, handsOver }) =>
  npm !== undefined && handsOver === true ? id : [],
);

/** Environment variables of all built-in agents; the daemon drops others unless the configuration names them. */
export const agentVariables = {
  reads: builtInAgents.flatMap(({ variables }) => variables?.reads ?? []),
  marks: builtInAgents.flatMap(({ variables }) => variables?.marks ?? []),
};
