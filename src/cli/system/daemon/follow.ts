/**
 * Notifies commands that follow a session or the list of sessions. They re-read by sequence number, so nothing is lost
 * between two connections. A stopped daemon is waited for and never started: it may have been stopped on purpose.
 */
import { setTimeout as pause } from "node:timers/promises";
import { bounded } from "../../../base/async.ts";
import { HoldfastError } from "../../../contract/errors.ts";
import { operations } from "../../../contract/operations.ts";
import { agentsSocketOf, identityOf } from "./connection.ts";
import type { Context } from "../../context.ts";
import { findDaemon } from "./find-daemon.ts";
import { SocketTransport } from "./socket-transport.ts";

const retryMs = 250;
/** Rechecks at this interval, in case the stream is silent for another reason. */
const idleMs = 30_000;

/** Calls `read` now and whenever something may have changed, forever. */
export async function follow(context: Context, session: string | undefined, read: () => Promise<void>): Promise<never> {
  context.mayStart = false;
  for await (const _ of changes(context, session)) {
    try {
      await read();
    } catch (error) {
      // The connection broke: the next one triggers another read from the same position.
      if (!(error instanceof HoldfastError && error.code === "unreachable")) throw error;
    }
  }
  throw new Error("following never ends");
}

async function* changes(context: Context, session?: string): AsyncGenerator<void> {
  const path =
    session === undefined ? operations.sse.path : `${operations.sse.path}?session=${encodeURIComponent(session)}`;
  let reportedLost = false;
  for (;;) {
    const inside = agentsSocketOf(context);
    const found = findDaemon(context.paths);
    const socket = inside ?? (found.daemon === "running" ? found.file.socket : null);
    if (socket === null) {
      if (!reportedLost) context.err("The daemon is not running; waiting for it.");
      reportedLost = true;
      await pause(retryMs);
      continue;
    }
    const lines = new SocketTransport(socket).lines(path, identityOf(context));
    try {
      yield* wakeUps(lines, () => (reportedLost = false));
    } catch (error) {
      // A daemon that is stopping or not yet listening fails with a system error code.
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
    const result = await bounded(next, idleMs);
    if (result === "too-late") {
      yield;
      continue;
    }
    if (result.done === true) return;
    next = lines.next();
    connected();
    if (result.value.startsWith("data:")) yield;
  }
}
