/** What a bwrap command line needs for a session with an allow list. */
import { parseAllow } from "./allow-list.ts";
import { socketName } from "./files.ts";

export interface InsideNetwork {
  /** bwrap arguments after all other mounts, besides `--unshare-net`. */
  args: string[];
  /** Precedes the agent's command. */
  prefix: string[];
  env: Record<string, string>;
}

/** In its own namespace, so every session may use the same. */
const port = 3128;
const folder = "/run/holdfast-network";
/** For programs of the session that serve each other. */
const loopback = ["localhost", "127.0.0.1", "::1"];

/** Saves memory: the bridge only copies bytes. */
export const leanNode = ["--max-semi-space-size=1", "--max-old-space-size=64", "--no-warnings"];

export interface InsidePrograms {
  /** Files outside: the Node that runs the bridge, and the bridge. */
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

/** The machine's loopback ports that the list names; one per number. */
export function forwarded(allow: readonly string[]): string[] {
  const found = new Map<number, string>();
  for (const text of allow) {
    const entry = parseAllow(text);
    if ("problem" in entry || entry.match !== "exact" || entry.port === null || entry.port === port) continue;
    if (entry.host === "127.0.0.1" || entry.host === "localhost") found.set(entry.port, `${entry.host}:${entry.port}`);
  }
  return [...found.values()];
}

/** Both spellings: curl reads only lower case for http, others only upper case. */
function proxyEnvironment(): Record<string, string> {
  const proxy = `http://127.0.0.1:${port}`;
  const values = { http_proxy: proxy, https_proxy: proxy, all_proxy: proxy, no_proxy: loopback.join(",") };
  return {
    ...values,
    ...Object.fromEntries(Object.entries(values).map(([name, value]) => [name.toUpperCase(), value])),
    // Without it Node ignores the proxy.
    NODE_USE_ENV_PROXY: "1",
  };
}
