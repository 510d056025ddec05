/**
 * What containment needs beyond one launch: the home's network proxy and the sessions' dev containers. Loaded with the first
 * session that has one.
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
  /** The folder of the contained sessions' own folders. */
  contained: string;
  /** Holdfast's own folders, which no contained agent sees. */
  hidden: readonly string[];
  agents: Pick<Agents, "of">;
  /** The runtime and the folder of the built programs. */
  node: string;
  programs: string;
  env: NodeJS.ProcessEnv;
  /** Takes a process out of a unit that ends all of its processes when it is stopped. */
  launchPrefix: () => readonly string[];
}

export interface Outer {
  options: Required<Pick<ContainOptions, "network" | "devcontainer">>;
  network: () => Promise<Network>;
  /** Whether this home ever had a proxy. */
  hadProxy: () => boolean;
  containers: () => Promise<Devcontainers>;
  /** Ends commands of the container engine that are under way. */
  close: () => void;
  /** Removes what is outside before what is kept of a session. */
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
        // Its models need no entry: an agent that reaches none of them does nothing.
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
