/** What a bwrap command line needs for a session whose network is an allow list, or none. */
import { parseAllow } from "./allow-list.ts";
import { socketName } from "./files.ts";

export interface InsideNetwork {
  /** Arguments of bwrap, behind all other mounts; `--unshare-net` is there already. */
  args: string[];
  /** In front of the agent's command. */
  prefix: string[];
  env: Record<string, string>;
}

/** Of its own namespace, so every session may have the same. */
const port = 3128;
const folder = "/run/holdfast-network";
/** What programs of the session serve to each other. */
const loopback = ["localhost", "127.0.0.1", "::1"];

/** Spares memory: the bridge only copies bytes. */
export const leanNode = ["--max-semi-space-size=1", "--max-old-space-size=64", "--no-warnings"];

export interface InsidePrograms {
  /** The Node that runs the bridge, and the bridge: files outside. */
  node: string;
  bridge: string;
}

export function allowListInside(
  socketFolder: string,
  allow: readonly string[],
  { node, bridge }: InsidePrograms,
): InsideNetwork {
  const binds = [
    [socketFolder, `${folder}/door`],
    [node, `${folder}/node`],
    [bridge, `${folder}/bridge.cjs`],
  ];
  return {
    args: binds.flatMap(([from, to]) => ["--ro-bind", from!, to!]),
    prefix: [
      `${folder}/node`,
      ...leanNode,
      `${folder}/bridge.cjs`,
      `${folder}/door/${socketName}`,
      String(port),
      forwarded(allow).join(","),
    ],
    env: proxyEnvironment(),
  };
}

/** Loopback ports of the machine that the list names; one per number. */
export function forwarded(allow: readonly string[]): string[] {
  const found = new Map<number, string>();
  for (const text of allow) {
    const entry = parseAllow(text);
    if ("problem" in entry || entry.match !== "exact" || entry.port === null || entry.port === port) continue;
    if (entry.host === "127.0.0.1" || entry.host === "localhost") found.set(entry.port, `${entry.host}:${entry.port}`);
  }
  return [...found.values()];
}

/** Both spellings: curl reads only the small ones for http, others only the large ones. */
function proxyEnvironment(): Record<string, string> {
  const proxy = `http://127.0.0.1:${port}`;
  const values = { http_proxy: proxy, https_proxy: proxy, all_proxy: proxy, no_proxy: loopback.join(",") };
  return {
    ...values,
    ...Object.fromEntries(Object.entries(values).map(([name, value]) => [name.toUpperCase(), value])),
    // Node asks no proxy without it.
    NODE_USE_ENV_PROXY: "1",
  };
}
