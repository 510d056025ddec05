/** Checks the programs that Holdfast requires and the agents that it can run. */
import { execFile } from "node:child_process";
import { findProgram } from "../../base/find-program.ts";
import { builtInAgents, builtInIds } from "../../agents/registry.ts";
import type { SettingsJson } from "../../contract/daemon.ts";
import { type Finding, finding } from "./finding.ts";

const deadlineMs = 5_000;
const oldestGit: Version = [2, 31];
/** 3.2 supports confirming input and exact targets. */
const oldestTmux: Version = [3, 2];

type Version = readonly [number, number];

export async function checkTools(env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const install = process.platform === "darwin" ? "brew install" : "sudo apt-get install";
  const [git, tmux] = await Promise.all([
    checkVersion({ name: "git", args: ["--version"], oldest: oldestGit, fix: `${install} git`, env }),
    checkVersion({ name: "tmux", args: ["-V"], oldest: oldestTmux, fix: `${install} tmux`, env }),
  ]);
  return [
    finding("node", "ok", `Node ${process.versions.node} (${process.execPath})`),
    git,
    tmux,
    judgeReserve(findProgram("fallocate", env["PATH"])),
  ];
}

/** Optional: without it a disk that fills up during a turn can lose the agent's answer. */
export function judgeReserve(path: string | null): Finding {
  if (path !== null) return finding("fallocate", "ok", "Disk space is reserved for chat agents' output");
  const message = "fallocate is not on PATH: without reserved disk space, a full disk can lose a chat agent's answer.";
  return finding("fallocate", "warn", message, {
    fix:
      process.platform === "darwin"
        ? "This system has no fallocate. Keep a few GB of disk space free."
        : "sudo apt-get install util-linux",
  });
}

interface Tool {
  name: string;
  args: string[];
  oldest: Version;
  fix: string;
  env: NodeJS.ProcessEnv;
}

async function checkVersion({ name, args, oldest, fix, env }: Tool): Promise<Finding> {
  const path = findProgram(name, env["PATH"]);
  if (path === null) return finding(name, "fail", `${name} is not on PATH.`, { fix });
  const text = await output(path, args, env);
  if (text === null) return finding(name, "fail", `${path} does not run.`, { fix });
  return judgeVersion(name, text, oldest, fix);
}

export function judgeVersion(name: string, text: string, oldest: Version, fix: string): Finding {
  const found = /(\d+)\.(\d+)/.exec(text);
  const shown = text.trim().split("\n")[0] ?? "";
  if (found === null) return finding(name, "warn", `Cannot read the version of ${name}: ${shown}`);
  const [major, minor] = [Number(found[1]), Number(found[2])];
  const enough = major > oldest[0] || (major === oldest[0] && minor >= oldest[1]);
  return enough
    ? finding(name, "ok", shown)
    : finding(name, "fail", `${shown} is too old; ${oldest.join(".")} or newer is required.`, { fix });
}

/** Agents that npm can install, with their ACP adapters. */
const installable = builtInAgents.flatMap(({ id, npm, terminal, chat }) => {
  const program = terminal?.start[0];
  if (npm === undefined || program === undefined) return [];
  const adapter = chat?.npm === undefined ? null : { program: chat.command[0]!, install: `npm install -g ${chat.npm}` };
  return [{ id, program, install: `npm install -g ${npm}`, adapter }];
});

/** Ids of the agents that are installed, in the order of the table. */
export function agentsFound(env: NodeJS.ProcessEnv): string[] {
  return installable.filter(({ program }) => findProgram(program, env["PATH"]) !== null).map(({ id }) => id);
}

/** @param shell the user's own environment, if the daemon runs with another one. */
export function checkAgents(env: NodeJS.ProcessEnv, shell: NodeJS.ProcessEnv = env): Finding[] {
  const found = agentsFound(env);
  const one = (id: string, program: string, fix: string, [shown, missing] = ["", ""]): Finding => {
    const path = findProgram(program, env["PATH"]);
    if (path !== null) return finding(`agent ${id}`, "ok", path + shown);
    const own = findProgram(program, shell["PATH"]);
    if (own === null) return finding(`agent ${id}`, "info", `${program}${missing} is not installed.`, { fix });
    // Installed, but `spawn` cannot use it.
    const message = `This shell finds ${own}, but the daemon, started with another PATH, does not find ${program}.`;
    return finding(`agent ${id}`, "warn", message, { fix: "holdfast restart" });
  };
  const each = installable.flatMap(({ id, program, install, adapter }) => [
    one(id, program, install),
    ...(adapter === null || !found.includes(id)
      ? []
      : [one(id, adapter.program, adapter.install, [" (chat)", ", for chat sessions,"])]),
  ]);
  const none = finding("agents", "warn", "No agent is installed; only shell, demo and custom commands can run.", {
    fix: installable[0]!.install,
  });
  return found.length === 0 ? [none, ...each] : each;
}

/** Agents of configuration files, as the daemon finds them. */
export function judgeConfigured(agents: SettingsJson["agents"]): Finding[] {
  const own = agents.filter(({ id, project }) => project !== undefined || !builtInIds.includes(id));
  return own.map(({ id, project, command, reason }) => {
    const name = project === undefined ? `agent ${id}` : `agent ${id} of ${project}`;
    return reason === null ? finding(name, "ok", command) : finding(name, "warn", reason);
  });
}

function output(program: string, args: string[], env: NodeJS.ProcessEnv): Promise<string | null> {
  return new Promise((resolve) => {
    execFile(program, args, { env, timeout: deadlineMs }, (error, stdout) => resolve(error === null ? stdout : null));
  });
}
