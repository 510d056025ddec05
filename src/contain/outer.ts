/**
 * The parts of containment beyond one launch: the home's network proxy and the sessions' dev containers. Loaded with
 * the first session that needs them.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { loadOnce } from "../base/load-once.ts";
import type { Agents } from "../ports/agents.ts";
import type { Containing } from "../ports/contain.ts";
import type { ContainOptions } from "./contain.ts";
import type { Devcontainers } from "./devcontainer/devcontainer.ts";
import type { Network } from "./network/network.ts";
import { networkFolder, proxyFile, sessionFolder } from "./network/files.ts";

export interface OuterOptions {
  home: string;
  /** Contains the contained sessions' own folders. */
  contained: string;
  /** Holdfast's own folders, which no contained agent sees. */
  hidden: readonly string[];
  agents: Pick<Agents, "of">;
  /** The Node to run, and the folder of the built programs. */
  node: string;
  programs: string;
  env: NodeJS.ProcessEnv;
  /** Moves a process out of a unit that kills all of its processes when stopped. */
  launchPrefix: () => readonly string[];
}

export interface Outer {
  options: Required<Pick<ContainOptions, "network" | "devcontainer">>;
  network: () => Promise<Network>;
  /** Whether this home ever had a proxy. */
  hadProxy: () => boolean;
  containers: () => Promise<Devcontainers>;
  /** Aborts commands of the container engine. */
  close: () => void;
  /** Removes what a session has outside before its own folder. */
  removing: (contain: Containing) => Containing;
}

export function openOuter(options: OuterOptions): Outer {
  const { home, hidden, agents, node, programs, env } = options;
  const directory = join(home, networkFolder);
  const network = loadOnce(async () => {
    const [proxy, bridge] = [join(programs, "network-proxy.cjs"), join(programs, "network-bridge.cjs")];
    const launchPrefix = options.launchPrefix();
    return new (await import("./network/network.ts")).Network({ directory, node, proxy, bridge, env, launchPrefix });
  });
  let opened: Devcontainers | null = null;
  const containers = loadOnce(async () => {
    const isTrusted = (session: { contain?: { trustDevcontainer?: boolean } }) =>
      session.contain?.trustDevcontainer === true;
    opened = new (await import("./devcontainer/devcontainer.ts")).Devcontainers({ home, hidden, env, isTrusted });
    return opened;
  });
  return {
    network,
    hadProxy: () => existsSync(proxyFile(directory)),
    containers,
    close: () => opened?.close(),
    options: {
      network: async ({ session }, allow) => {
        // An agent's model hosts are always allowed: it cannot work without them.
        const hosts = agents.of(session)?.hosts ?? [];
        return (await network()).open(session.id, [...new Set([...hosts, ...allow])]);
      },
      devcontainer: {
        preflight: async (contain, repository) => (await containers()).preflight(contain, repository),
        contain: async (...given) => (await containers()).contain(...given),
      },
    },
    removing: (contain) => ({
      ...contain,
      async remove(id) {
        if (existsSync(join(options.contained, id, "devcontainer"))) await (await containers()).remove(id);
        if (existsSync(sessionFolder(directory, id))) (await network()).remove(id);
        await contain.remove(id);
      },
    }),
  };
}
