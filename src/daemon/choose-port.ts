/** Chooses the port that the daemon listens on. */
import { defaultPort, type LaunchOptions } from "../base/launch-options.ts";
import { readTlsFiles, type TlsFiles } from "../base/tls-files.ts";
import type { Logger } from "../ports/api.ts";
import type { Store } from "../ports/store.ts";
import { messageOf } from "../contract/errors.ts";

/** The setting that stores the last free port, if the user chose none. */
const keptPort = "http.port";

interface Listens {
  listenTcp(host: string, port: number): Promise<{ port: number; url: string }>;
}

/**
 * If the default port is taken, a free one is used; a port that the user chose never changes. Later starts reuse the free
 * port while they can: bookmarks, the installed page and push belong to an address [DAEMON-20].
 */
export async function listen(
  api: Listens,
  options: LaunchOptions,
  store: Pick<Store, "getSetting" | "putSetting">,
  log: Logger,
): Promise<{ url: string; notes: string[] }> {
  if (options.portGiven) return { ...(await api.listenTcp(options.host, options.port)), notes: [] };
  const kept = Number(store.getSetting(keptPort) ?? options.port);
  const first = options.port === defaultPort ? kept : options.port;
  const notes: string[] = [];
  for (const port of new Set([first, options.port])) {
    try {
      const { url } = await api.listenTcp(options.host, port);
      return { url, notes };
    } catch (error) {
      if (((error as Error).cause as NodeJS.ErrnoException | undefined)?.code !== "EADDRINUSE") throw error;
      log.warn("port is taken; using another one", { port, why: messageOf(error) });
      // Another user's program there would receive what browsers send to the known port [REMOTE-8].
      if (port === defaultPort) notes.push(`Warning: ${messageOf(error)} Bookmarks of port ${port} lead there.`);
    }
  }
  const free = await api.listenTcp(options.host, 0);
  await store
    .putSetting(keptPort, String(free.port))
    .catch((error: unknown) => log.warn("could not store the port for the next start", { error }));
  return { url: free.url, notes };
}

export function tlsOf({ tlsCert, tlsKey }: LaunchOptions): TlsFiles | null {
  return tlsCert === null || tlsKey === null ? null : { cert: tlsCert, key: tlsKey };
}

export function tlsFacts(files: TlsFiles | null): { cert: string; expiresAt: string | null } | null {
  if (files === null) return null;
  const read = readTlsFiles(files);
  return { cert: files.cert, expiresAt: read.is === "ok" ? new Date(read.expiresAt).toISOString() : null };
}
