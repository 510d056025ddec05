/**
 * Containment: changes a launch so that the agent can write to its worktree, its branch and its own state, and sees
 * nothing else of the machine but programs. `worktree` mode uses bubblewrap; the network and dev containers have their
 * own folders. The measurements behind mounts and flags: docs/decisions/0019-containment.md.
 */
import { existsSync, mkdirSync, rmSync, linkSync, statSync, unlinkSync } from "node:fs";
import { join, basename, dirname } from "node:path";
import { Serial } from "../base/async.ts";
import { lazy } from "../base/lazy.ts";
import type { Logger } from "../ports/api.ts";
import type { Contained, Containing, ContainRequest } from "../ports/contain.ts";
import { notContained, type Containment } from "../contract/containment.ts";
import type { SessionState } from "../model/session.ts";
import type { InsideNetwork } from "./network/inside.ts";
import type { GitRun } from "./objects.ts";
import { HoldfastError } from "../contract/errors.ts";

/** Inside the folder of all contained sessions; no session has this name. */
export const socketFolder = ".socket";

/**
 * Links the agents' socket into a folder that contained agents can see; repeated by each daemon. False if there is no
 * socket.
 */
export function showSocket(socket: string, directory: string): boolean {
  const real = statSync(socket, { throwIfNoEntry: false });
  if (real?.isSocket() !== true) return false;
  const shown = join(directory, socketFolder, basename(socket));
  mkdirSync(dirname(shown), { recursive: true, mode: 0o700 });
  const now = statSync(shown, { throwIfNoEntry: false });
  if (now?.ino === real.ino) return true;
  if (now !== undefined) unlinkSync(shown);
  try {
    linkSync(socket, shown);
    return true;
  } catch {
    // On another file system (a home's path was too long for a socket): agents do without.
    return false;
  }
}

export const noAllowList = "This build of Holdfast has no network allow-list. Use --network off or --network on.";

export function impossible(problem: string): HoldfastError {
  return new HoldfastError("preflight-failed", problem, { hint: "The agent was not started without containment." });
}

export interface ContainOptions {
  /** `<home>/contained`: one folder per session. */
  directory: string;
  /** Holdfast's own folders, which no contained agent sees. */
  hidden: readonly string[];
  /** The socket that agents may use. */
  agentsSocket?: string;
  /** Further paths for a session's agent to read: the targets of its worktree's links. */
  shared?: (session: SessionState) => Promise<string[]>;
  network?: (request: ContainRequest, allow: readonly string[], own: string) => Promise<InsideNetwork>;
  devcontainer?: {
    preflight: (contain: Containment, repository?: string) => Promise<string[]>;
    contain: (request: ContainRequest, containment: Containment, own: string) => Promise<Contained>;
  };
  /** Runs git outside, without any program that a repository names. */
  git?: GitRun;
  log?: Pick<Logger, "warn">;
  env?: NodeJS.ProcessEnv;
}

const noGit: GitRun = () => Promise.resolve({ code: 128, stdout: "", stderr: "" });
const noDevcontainer = "This build of Holdfast cannot start devcontainers. Use --contain worktree.";

export function openContainment(options: ContainOptions): Containing {
  const env = options.env ?? process.env;
  // A daemon without a contained session loads none of it.
  const bwrap = lazy(async () => new (await import("./bwrap.ts")).BwrapCheck(env));
  const ownOf = (id: string): string => join(options.directory, id.replaceAll(/[^\w.-]/g, "_"));
  const git = options.git ?? noGit;
  /** One at a time per session: two would write the same files. */
  const serial = new Serial();
  const takeOver = async ({ id }: { id: string }): Promise<void> => {
    const own = ownOf(id);
    if (!existsSync(own)) return;
    const { takeOver: takeOverFrom } = await import("./take-over.ts");
    const problems = await serial.run(id, async () => await takeOverFrom(own, id, git));
    if (problems.length > 0) options.log?.warn("contained session not taken over completely", { id, problems });
  };

  return {
    async preflight({ contain = notContained }, repository) {
      if (contain.mode === "off") return [];
      if (contain.mode === "devcontainer")
        return options.devcontainer?.preflight(contain, repository) ?? [noDevcontainer];
      const found = await (await bwrap()).find();
      const problems = "problem" in found ? [found.problem] : [];
      if (typeof contain.network === "object" && options.network === undefined) problems.push(noAllowList);
      return problems;
    },
    async contain(request) {
      const containment = request.session.contain ?? notContained;
      if (containment.mode === "off") return null;
      const own = ownOf(request.session.id);
      mkdirSync(own, { recursive: true, mode: 0o700 });
      if (containment.mode === "devcontainer") {
        if (options.devcontainer === undefined) throw impossible(noDevcontainer);
        await takeOver(request.session);
        return options.devcontainer.contain(request, containment, own);
      }
      const found = await (await bwrap()).find();
      if ("problem" in found) throw impossible(found.problem);
      await takeOver(request.session);
      const { inWorktree } = await import("./worktree.ts");
      return inWorktree(options, request, containment, { own, bwrap: found.path });
    },
    ownHome: ({ id, contain = notContained }) => (contain.mode === "worktree" ? join(ownOf(id), "home") : null),
    takeOver,
    showSocket() {
      // Running agents have the folder mounted already.
      if (options.agentsSocket !== undefined && existsSync(options.directory)) {
        showSocket(options.agentsSocket, options.directory);
      }
    },
    async remove(id) {
      if (!existsSync(ownOf(id))) return;
      await takeOver({ id });
      await (await import("./take-over.ts")).forgetRepository(ownOf(id), id, git);
      rmSync(ownOf(id), { recursive: true, force: true });
    },
  };
}
