/**
 * Containment as the daemon uses it: one launch's (contain.ts), the home's network proxy and the sessions' dev containers,
 * which load with the first session that has one.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { lazy } from "../base/lazy.ts";
import type { Agents } from "../ports/agents.ts";
import type { Logger } from "../ports/api.ts";
import type { Containing } from "../ports/contain.ts";
import type { Runtime } from "../ports/runtime.ts";
import type { Store } from "../ports/store.ts";
import { openContainment, type ContainOptions } from "./contain.ts";
import { followContained } from "./contained.ts";
import type { Devcontainers } from "./devcontainer/devcontainer.ts";
import { endingContainers, watchContainers } from "./devcontainer/watch.ts";
import { networkFolder, proxyFile, sessionFolder } from "./network/files.ts";
import { watchNetwork } from "./network/watch.ts";

export interface OuterOptions extends Required<Pick<ContainOptions, "agentsSocket" | "shared" | "git" | "env">> {
  home: string;
  /** Contains the contained sessions' own folders. */
  contained: string;
  /** Holdfast's own folders, which no contained agent sees. */
  hidden: readonly string[];
  agents: Pick<Agents, "of">;
  /** The Node to run, and the folder of the built programs. */
  node: string;
  programs: string;
  /** Takes a process out of a unit that kills all of its processes when it stops. */
  launchPrefix: readonly string[];
  log: Logger;
}

export interface Outer {
  contain: Containing;
  /** Makes a runtime's stop include the session's container. */
  attach: (runtime: Pick<Runtime, "stop">) => void;
  /** Starts the watchers of contained sessions; returns how to stop each, by name. */
  watch: (services: { store: Store; log: Logger }) => [name: string, close: () => void | Promise<void>][];
}

export function openOuter(options: OuterOptions): Outer {
  const { home, hidden, agents, node, programs, env, agentsSocket, shared, git, log } = options;
  const directory = join(home, networkFolder);
  const network = lazy(async () => {
    const [proxy, bridge] = [join(programs, "network-proxy.cjs"), join(programs, "network-bridge.cjs")];
    const { launchPrefix } = options;
    return new (await import("./network/network.ts")).Network({ directory, node, proxy, bridge, env, launchPrefix });
  });
  let opened: Devcontainers | null = null;
  const containers = lazy(async () => {
    const isTrusted = (session: { contain?: { trustDevcontainer?: boolean } }) =>
      session.contain?.trustDevcontainer === true;
    opened = new (await import("./devcontainer/devcontainer.ts")).Devcontainers({ home, hidden, env, isTrusted });
    return opened;
  });
  const inner = openContainment({
    directory: options.contained,
    hidden,
    agentsSocket,
    shared,
    git,
    log,
    network: async ({ session }, allow) => {
      // Its models need no entry: an agent that reaches none of them does nothing.
      const hosts = agents.of(session)?.hosts ?? [];
      return (await network()).open(session.id, [...new Set([...hosts, ...allow])]);
    },
    devcontainer: {
      preflight: async (contain, repository) => (await containers()).preflight(contain, repository),
      contain: async (...given) => (await containers()).contain(...given),
    },
  });
  const contain: Containing = {
    ...inner,
    async remove(id) {
      if (existsSync(join(options.contained, id, "devcontainer"))) await (await containers()).remove(id);
      if (existsSync(sessionFolder(directory, id))) (await network()).remove(id);
      await inner.remove(id);
    },
  };
  return {
    contain,
    attach: (runtime) => endingContainers(runtime, containers),
    watch: (services) => [
      ["contained", followContained({ ...services, contain })],
      ["network", watchNetwork(services, network, () => existsSync(proxyFile(directory)))],
      ["containers", watchContainers(services, containers)],
      ["container commands", () => opened?.close()],
    ],
  };
}
