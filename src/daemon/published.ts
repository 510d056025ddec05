/** How the CLI finds this daemon, and how the daemon describes itself. */
import { existsSync, mkdirSync, readFileSync, rmSync, watch, type FSWatcher } from "node:fs";
import { dirname } from "node:path";
import { writeAtomically } from "../base/durable-file.ts";
import { keepLaunch, type DaemonFile } from "../base/launch-options.ts";
import type { LogFile } from "../base/log-file.ts";
import { bootId, identify } from "../base/pid.ts";
import { build, version } from "../base/program.ts";
import type { Services } from "../supervisor/services.ts";
import { Coordinator } from "../supervisor/coordinator.ts";
import { tlsFacts, tlsOf } from "./choose-port.ts";
import { managedBy, report, type Start } from "./this-process.ts";

/** If the system cannot watch, or lost an event. */
const checkEveryMs = 60_000;
/** The first retry after a failed write; each further one waits twice as long, up to the regular check. */
const retryMs = 1_000;

export class DaemonFacts {
  readonly #start: Start;
  /** Empty until the API listens. */
  url = "";

  constructor(start: Start) {
    this.#start = start;
  }

  file(): DaemonFile {
    const { paths, startedAt, options } = this.#start;
    return {
      pid: process.pid,
      startTime: identify(process.pid)?.startTime ?? "",
      bootId: bootId(),
      version,
      build,
      url: this.url,
      socket: paths.socket,
      startedAt,
      managedBy: managedBy(),
      options,
      path: process.env["PATH"] ?? "",
      variables: Object.keys(process.env).toSorted(),
    };
  }

  info() {
    const { paths, startedAt, options } = this.#start;
    return {
      state: "running" as const,
      pid: process.pid,
      version,
      build,
      url: this.url,
      publicUrls: [...options.publicUrls],
      tls: tlsFacts(tlsOf(options)),
      socket: paths.socket,
      home: paths.home,
      startedAt: new Date(startedAt).toISOString(),
      managedBy: managedBy(),
    };
  }
}

interface Listens {
  listenSocket(path: string, audience?: "all" | "agents"): Promise<void>;
}

export function publish({ paths, owner, log }: Start, daemon: DaemonFacts, api: Listens): void {
  const { daemonFile } = paths;
  const text = `${JSON.stringify(daemon.file())}\n`;
  writeAtomically(daemonFile, text);
  owner.owns("daemon file", () => rmSync(daemonFile, { force: true }));
  const sockets = [
    { path: paths.socket, listen: () => api.listenSocket(paths.socket) },
    { path: paths.agentsSocket, listen: () => api.listenSocket(paths.agentsSocket, "agents") },
  ];
  owner.owns("published", keepPublished({ daemonFile, text, sockets, log }));
}

export function reportReady({ paths, log, startedAt }: Start, { url }: DaemonFacts, notes: readonly string[]): void {
  keepLaunch(paths.launchFile);
  log.info("ready", { pid: process.pid, url, build, startupMs: Date.now() - startedAt });
  const moved = paths.socketMoved === null ? [] : [`${paths.socketMoved}; using ${paths.socket}.`];
  report({ report: "ready", pid: process.pid, url, notes: [...notes, ...moved] });
}

/** For the CLI that starts the next daemon: these variables must come from its shell. Only of files that are in effect. */
export function rememberVariables({ store, settings }: Pick<Services, "store" | "settings">, file: string): void {
  const named = store
    .projects()
    .flatMap(({ id, configFile }) => (settings.last(id)?.passEnv ?? []).map((name) => ({ name, file: configFile })));
  try {
    writeAtomically(file, `${JSON.stringify(named)}\n`);
  } catch {
    // A full disk: the next start passes on the variables of the last list.
  }
}

export interface Published {
  daemonFile: string;
  text: string;
  /** All in one directory; `listen` listens on the path again. */
  sockets: readonly { path: string; listen: () => Promise<void> }[];
  log: Pick<LogFile, "warn">;
}

/**
 * Restores the daemon file and the sockets: a cleanup of temporary files may remove them, and every command would then take
 * a running daemon for a stopped one [DAEMON-18].
 */
export function keepPublished({ daemonFile, text, sockets, log }: Published): () => void {
  const watchers = new Map<string, FSWatcher>();
  let pause = retryMs;
  let retry: NodeJS.Timeout | undefined;

  /** Watches the file itself: in its directory each commit to the database would wake us. */
  const follow = (path: string): void => {
    watchers.get(path)?.close();
    watchers.delete(path);
    try {
      const watcher = watch(path, { persistent: false }, check);
      watcher.on("error", () => watcher.close());
      watchers.set(path, watcher);
    } catch {
      // The regular check covers it.
    }
    // Without an event it may have been removed before it was watched: check once more.
    check();
  };
  const restore = async (): Promise<void> => {
    if (!contains(daemonFile, text)) {
      writeAtomically(daemonFile, text);
      log.warn("daemon file removed or changed; restored", { path: daemonFile });
      follow(daemonFile);
    }
    for (const { path, listen } of sockets) {
      if (existsSync(path)) continue;
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      await listen();
      log.warn("socket removed; restored", { path });
      follow(dirname(path));
    }
    pause = retryMs;
  };
  const checks = new Coordinator<null>({
    run: restore,
    onError: (_, error) => {
      // Once: a disk may refuse for days.
      if (pause === retryMs) log.warn("cannot restore the daemon file or the socket; retrying", { error });
      clearTimeout(retry);
      if (pause < checkEveryMs) retry = setTimeout(check, pause).unref();
      pause = Math.min(pause * 2, checkEveryMs);
    },
  });
  function check(): void {
    void checks.wake(null);
  }
  follow(daemonFile);
  for (const directory of new Set(sockets.map(({ path }) => dirname(path)))) follow(directory);
  const timer = setInterval(check, checkEveryMs).unref();
  return () => {
    void checks.close();
    clearInterval(timer);
    clearTimeout(retry);
    for (const watcher of watchers.values()) watcher.close();
  };
}

function contains(path: string, text: string): boolean {
  try {
    return readFileSync(path, "utf8") === text;
  } catch {
    return false;
  }
}
