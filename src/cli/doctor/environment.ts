/** Checks whether the daemon, and so its agents, have the PATH and variables of the user's shell. */
import { delimiter } from "node:path";
import { agentVariables } from "../../agents/registry.ts";
import { isNamed, isPassedOn, marksAnother } from "../../base/clean-env.ts";
import type { DaemonFile } from "../../base/launch-options.ts";
import { namedVariables, type NamedVariable } from "../../config/pass-env.ts";
import type { Context } from "../context.ts";
import { findDaemon } from "../system/daemon/find-daemon.ts";
import { serviceName } from "../system/service/service.ts";
import { type Finding, finding } from "./finding.ts";

const check = "environment";

/** The environment to search programs in: the running daemon's, or the one it would be started with. */
export function searchEnvironment({ env, paths }: Context): NodeJS.ProcessEnv {
  const found = findDaemon(paths);
  const path = found.daemon === "running" ? found.file.path : undefined;
  return path === undefined ? env : { ...env, PATH: path };
}

export async function checkEnvironment(context: Context): Promise<Finding[]> {
  const found = findDaemon(context.paths);
  const daemon = found.daemon === "running" ? found.file : null;
  const named = await namedVariables(context.paths);
  return [
    ...judgePath(context.env, daemon),
    ...judgeVariables(context.env, daemon, named, restartIn(context, daemon)),
    ...judgeDropped(context.env, named),
  ];
}

function judgePath(env: NodeJS.ProcessEnv, daemon: DaemonFile | null): Finding[] {
  if (daemon?.path === undefined) return [];
  const has = new Set(daemon.path.split(delimiter));
  const missing = [...new Set((env["PATH"] ?? "").split(delimiter))].filter((one) => one !== "" && !has.has(one));
  if (missing.length === 0) return [];
  return [
    finding(check, "info", `The daemon was started with another PATH. It does not have: ${missing.join(", ")}`, {
      fix: "If agents need programs from there: holdfast restart",
    }),
  ];
}

/** Variables that the configuration names or this shell has for agents, but the running daemon lacks. */
export function judgeVariables(
  env: NodeJS.ProcessEnv,
  daemon: Pick<DaemonFile, "variables"> | null,
  named: readonly NamedVariable[],
  restart: string,
): Finding[] {
  const has = daemon?.variables === undefined ? null : new Set(daemon.variables);
  if (has === null) return [];
  const lacking = named.filter(({ name }) => !name.endsWith("*") && !has.has(name));
  const later = neededVariables(env, named).filter(
    (name) => !has.has(name) && !lacking.some((each) => each.name === name),
  );
  return [
    ...lacking.map(({ name, file }) =>
      finding(check, "warn", `The running daemon does not have ${name}, which ${file} names.`, {
        fix: env[name] === undefined ? `Set ${name}, then ${restart}` : capitalized(restart),
      }),
    ),
    ...(later.length === 0
      ? []
      : [
          finding(check, "info", `Set in this shell, but not when the daemon started: ${later.join(", ")}`, {
            fix: capitalized(restart),
          }),
        ]),
  ];
}

/** Names only: their values are secrets. */
export function judgeDropped(env: NodeJS.ProcessEnv, named: readonly NamedVariable[]): Finding[] {
  const dropped = droppedVariables(env, named);
  if (dropped.length === 0) return [];
  return [
    finding(check, "info", `Variables in this shell that are not passed to agents: ${dropped.join(", ")}`, {
      fix: `To pass one, name it in config.yaml: defaults: {passEnv: [${dropped[0]}]}, then holdfast restart`,
    }),
  ];
}

export function droppedVariables(env: NodeJS.ProcessEnv, named: readonly NamedVariable[]): string[] {
  const names = named.map(({ name }) => name);
  return Object.keys(env)
    .filter((name) => isForAgents(name) && !isPassedOn(name, agentVariables) && !isNamed(name, names, agentVariables))
    .toSorted();
}

/** Variables of this shell that agents get, or that the configuration names. */
function neededVariables(env: NodeJS.ProcessEnv, named: readonly NamedVariable[]): string[] {
  const names = named.map(({ name }) => name);
  const isForEvery = (name: string): boolean => isForAgents(name) && isPassedOn(name, agentVariables);
  return Object.keys(env)
    .filter((name) => isForEvery(name) || isNamed(name, names, agentVariables))
    .toSorted();
}

/** The service's file only contains PATH, because others can read it: secrets must come from its manager. */
export function missingInService(
  env: NodeJS.ProcessEnv,
  named: readonly NamedVariable[],
  manager: "systemd" | "launchd",
): string[] {
  const missing = neededVariables(env, named);
  if (missing.length === 0) return [];
  return [
    `These variables of your shell are not passed to the service: ${missing.join(", ")}`,
    manager === "systemd"
      ? "  For agents that need them: put NAME=value lines into ~/.config/environment.d/holdfast.conf (mode 0600)."
      : "  For agents that need them: launchctl setenv NAME value",
  ];
}

const providers =
  /^(CLAUDE|ANTHROPIC|OPENAI|CODEX|GEMINI|GOOGLE|OPENCODE|OLLAMA|AWS|AZURE|VERTEX|OPENROUTER|MISTRAL|GROQ|DEEPSEEK|XAI|COHERE|HF|LITELLM)_/;
const secrets = /(_API_KEY|_TOKEN|_BASE_URL|_ENDPOINT)$/;
/** Set by an agent or an editor for its children. */
const marks = /^(CLAUDE_CODE_(ENTRYPOINT|SSE_PORT|EXECPATH|SESSION\w*|REMOTE\w*)|HOLDFAST_\w*)$/;

/** Whether a variable looks like one that an agent reads. */
export function isForAgents(name: string): boolean {
  if (marks.test(name)) return false;
  // Claude Code has many settings; passEnv can name each.
  if (marksAnother(name, agentVariables) && !name.startsWith("CLAUDE_CODE_")) return false;
  return providers.test(name) || secrets.test(name) || isNamed(name, agentVariables.reads, agentVariables);
}

/** A part of a sentence, in lower case. */
function restartIn(context: Context, daemon: DaemonFile | null): string {
  const name = serviceName(context);
  if (daemon?.managedBy === "systemd") {
    return `put it into ~/.config/environment.d/holdfast.conf and run: systemctl --user restart ${name}`;
  }
  if (daemon?.managedBy === "launchd")
    return `run launchctl setenv for it, then: launchctl kickstart -k gui/$(id -u)/${name}`;
  return daemon?.managedBy === "foreground"
    ? "start the daemon again in a shell that has it"
    : "run `holdfast restart` in a shell that has it";
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
