/**
 * Keeps what the CLI finds this daemon by: a cleanup of temporary files, or a hand that slipped, may remove the daemon file
 * or the socket, and then every command would take a running daemon for a stopped one [DAEMON-200].
 */
import { existsSync, mkdirSync, readFileSync, watch, type FSWatcher } from "node:fs";
import { dirname } from "node:path";
import { writeAtomically } from "../base/durable-file.ts";
import type { LogFile } from "../base/log-file.ts";

/** Where the system cannot watch, or lost an event. */
const lookEveryMs = 60_000;
/** A disk that refuses is asked again after this, and after twice as long each time, up to the regular look. */
const retryMs = 1_000;

export interface Published {
  daemonFile: string;
  text: string;
  /** All in one directory; `listen` listens on the path again. */
  sockets: readonly { path: string; listen: () => Promise<void> }[];
  log: Pick<LogFile, "warn">;
}

export function keepPublished({ daemonFile, text, sockets, log }: Published): () => void {
  const watchers = new Map<string, FSWatcher>();
  let closed = false;
  let looking: Promise<void> | null = null;
  let again = false;
  let pause = retryMs;
  let retry: NodeJS.Timeout | undefined;

  /** The file itself, not its directory, where each commit to the database would wake us. */
  const follow = (path: string): void => {
    // It may be removed before it is watched, which no event reports: it is looked at once more.
    again = true;
    watchers.get(path)?.close();
    watchers.delete(path);
    try {
      const watcher = watch(path, { persistent: false }, look);
      watcher.on("error", () => watcher.close());
      watchers.set(path, watcher);
    } catch {
      // Looked at by the minute.
    }
  };
  const restore = async (): Promise<void> => {
    if (!says(daemonFile, text)) {
      writeAtomically(daemonFile, text);
      log.warn("the daemon file was removed or changed; it is written again", { path: daemonFile });
      follow(daemonFile);
    }
    for (const { path, listen } of sockets) {
      if (existsSync(path)) continue;
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      await listen();
      log.warn("the socket was removed; it is there again", { path });
      follow(dirname(path));
    }
    pause = retryMs;
  };
  const look = (): void => {
    if (closed) return;
    again = looking !== null;
    looking ??= restore()
      .catch((error: unknown) => {
        // Once: a disk may refuse for days.
        if (pause === retryMs) log.warn("cannot restore the daemon file or the socket; retrying", { error });
        clearTimeout(retry);
        if (pause < lookEveryMs) retry = setTimeout(look, pause).unref();
        pause = Math.min(pause * 2, lookEveryMs);
      })
      .finally(() => {
        looking = null;
        if (again) look();
      });
  };
  follow(daemonFile);
  for (const directory of new Set(sockets.map(({ path }) => dirname(path)))) follow(directory);
  look();
  const timer = setInterval(look, lookEveryMs).unref();
  return () => {
    closed = true;
    clearInterval(timer);
    clearTimeout(retry);
    for (const watcher of watchers.values()) watcher.close();
  };
}

function says(path: string, text: string): boolean {
  try {
    return readFileSync(path, "utf8") === text;
  } catch {
    return false;
  }
}
