/**
 * Tells that something changed, for commands that follow: they then re-read by sequence, so nothing can be lost between
 * two connections. A daemon that went away is waited for and never started: somebody may have stopped it on purpose.
 */
import { HoldfastError } from "../../../contract/error.ts";
import { routes } from "../../../contract/http.ts";
import { agentsSocketOf, identityOf } from "./connection.ts";
import type { Context } from "../../context.ts";
import { findDaemon } from "./find-daemon.ts";
import { SocketTransport } from "./socket-transport.ts";

const retryMs = 250;
/** Looked again at this pace even if nothing is said, in case the stream is silent for a reason of its own. */
const idleMs = 30_000;

/** Calls `look` now and whenever something may have changed, for ever. */
export async function follow(context: Context, session: string | undefined, look: () => Promise<void>): Promise<never> {
  context.mayStart = false;
  for await (const _ of changes(context, session)) {
    try {
      await look();
    } catch (error) {
      // The daemon went in mid-question: the next connection tells when to ask again, from the same place.
      if (!(error instanceof HoldfastError && error.code === "unreachable")) throw error;
    }
  }
  throw new Error("following never ends by itself");
}

async function* changes(context: Context, session?: string): AsyncGenerator<void> {
  const path = session === undefined ? routes.sse.path : `${routes.sse.path}?session=${encodeURIComponent(session)}`;
  let saidLost = false;
  for (;;) {
    const inside = agentsSocketOf(context);
    const found = findDaemon(context.paths);
    const socket = inside ?? (found.daemon === "running" ? found.file.socket : null);
    if (socket === null) {
      if (!saidLost) context.err("The daemon is not running; waiting for it.");
      saidLost = true;
      await pause(retryMs);
      continue;
    }
    const lines = new SocketTransport(socket).lines(path, identityOf(context));
    try {
      yield* wakeUps(lines, () => (saidLost = false));
    } catch (error) {
      // Stopping, or not listening yet: then the connection fails with a code of the system's.
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    } finally {
      await lines.return(undefined);
    }
    await pause(retryMs);
  }
}

async function* wakeUps(lines: AsyncIterator<string>, connected: () => void): AsyncGenerator<void> {
  let next = lines.next();
  for (;;) {
    const result = await Promise.race([next, pause(idleMs).then(() => "idle" as const)]);
    if (result === "idle") {
      yield;
      continue;
    }
    if (result.done === true) return;
    next = lines.next();
    connected();
    if (result.value.startsWith("data:")) yield;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resume) => {
    setTimeout(resume, ms).unref();
    // An unreferenced timer alone would let the process end while it waits for a daemon.
    if (ms === retryMs) setTimeout(() => undefined, ms);
  });
}
