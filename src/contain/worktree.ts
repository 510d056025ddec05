/** A launch with only its worktree: the mounts in order, and the bwrap command line. */
import { mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { Contained, ContainRequest } from "../ports/contain.ts";
import type { Containment } from "../contract/containment.ts";
import { HoldfastError } from "../contract/errors.ts";
import { type ContainOptions, impossible, noAllowList, showSocket, socketFolder } from "./contain.ts";
import { containedEnvironment } from "./environment.ts";
import { gitMounts, gitPathsOf } from "./git-mounts.ts";
import type { InsideNetwork } from "./network/inside.ts";
import { baseMounts, expandPaths, isThere, isWithin } from "./mounts.ts";
import { ownState } from "./own-state.ts";
import { namespaceFlags, terminalFilter } from "./bwrap.ts";
import { recordRepository } from "./take-over.ts";

/** Opens the two descriptors that bwrap reads and closes, then becomes bwrap. */
const opener = 'exec 9<"$1" 8<"$2" && shift 2 && exec "$@"';

/** Inside: a shell that becomes the agent, for its message and status (127, 126) if the agent cannot start. */
const becomes = ["/bin/sh", "-c", 'exec "$@"', "holdfast"];

export async function inWorktree(
  options: ContainOptions,
  request: ContainRequest,
  containment: Containment,
  { own, bwrap }: { own: string; bwrap: string },
): Promise<Contained> {
  const { session } = request;
  const env = containedEnvironment(request.env, request.given);
  const home = env["HOME"] ?? homedir();
  const homes = [...new Set([home, homedir()])];
  const state = ownState(request.ownFolders, join(own, "home"), { ...env, HOME: home });
  const read = expandPaths(containment.read, home);
  const write = expandPaths(containment.write, home);
  refuseSecrets([...read, ...write], homes, options.hidden);
  const paths = gitPathsOf(session.workspacePath);
  if (paths !== null) recordRepository(own, paths, session.branch);
  const network = await networkOf(options, request, containment, own);
  const view = {
    home,
    homes,
    hidden: options.hidden,
    path: env["PATH"] ?? "",
    command: request.command,
    read: [...read, ...((await options.shared?.(session)) ?? [])],
  };
  const args = [
    namespaceFlags,
    containment.network === "on" ? [] : ["--unshare-net"],
    ["--seccomp", "9"],
    baseMounts(view),
    state.mounts.flatMap(({ from, to }) => ["--bind", from, to]),
    writable(write),
    ["--bind", session.workspacePath, session.workspacePath],
    gitMounts(session.workspacePath, session.branch, own).flat(),
    launchMounts(request),
    socketMounts(options),
    network.args,
    ["--chdir", session.workspacePath],
  ].flat();
  const [filter, list] = [join(own, "filter"), join(own, "arguments")];
  writeFileSync(filter, terminalFilter()!, { mode: 0o600 });
  writeFileSync(list, args.map((arg) => `${arg}\0`).join(""), { mode: 0o600 });
  const start = ["/bin/sh", "-c", opener, "holdfast", filter, list, bwrap, "--args", "8", "--"];
  return {
    argv: [...start, ...becomes, ...network.prefix, ...request.argv],
    env: { ...env, ...state.env, ...network.env },
    inNamespace: true,
  };
}

async function networkOf(
  { network }: ContainOptions,
  request: ContainRequest,
  containment: Containment,
  own: string,
): Promise<InsideNetwork> {
  if (typeof containment.network === "string") return { args: [], env: {}, prefix: [] };
  if (network === undefined) throw impossible(noAllowList);
  return network(request, containment.network.allow, own);
}

/** Caches may not exist yet. */
function writable(paths: readonly string[]): string[] {
  for (const path of paths) if (!isThere(path)) mkdirSync(path, { recursive: true });
  return paths.flatMap((path) => ["--bind", path, path]);
}

/**
 * Hooks append to one file, and write nothing else: the daemon also writes to this directory, and would follow a link
 * left by the agent.
 */
function launchMounts({ directory, files, hooks }: ContainRequest): string[] {
  if (!hooks) return files.flatMap((name) => ["--ro-bind", join(directory, name), join(directory, name)]);
  const lines = join(directory, "hooks.jsonl");
  writeFileSync(lines, "", { flag: "a", mode: 0o600 });
  return ["--ro-bind", directory, directory, "--bind", lines, lines];
}

function refuseSecrets(paths: readonly string[], homes: readonly string[], hidden: readonly string[]): void {
  for (const path of paths) {
    const shows = [...homes, ...hidden].some((secret) => isWithin(secret, path));
    const inside = hidden.some((secret) => isWithin(path, secret));
    if (!shows && !inside) continue;
    throw new HoldfastError("invalid", `A contained session cannot mount ${path}: it would expose secrets.`, {
      hint: "Name folders inside it in `contain: {read, write}`.",
    });
  }
}

/**
 * Mounts the agents' socket by a folder: a restarted daemon creates a new socket, which a mount of the file would miss.
 * The folder contains nothing else, because the user's socket is next to the real one.
 */
function socketMounts({ agentsSocket, directory }: ContainOptions): string[] {
  if (agentsSocket === undefined || !showSocket(agentsSocket, directory)) return [];
  return ["--ro-bind", join(directory, socketFolder), dirname(agentsSocket)];
}
