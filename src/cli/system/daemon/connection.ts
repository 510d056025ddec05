/**
 * Connects commands to the daemon, at the socket named in its file. A refused connection means that no request was sent
 * yet, so it is safe to wait for a daemon that is stopping, start one, and retry.
 */
import { existsSync } from "node:fs";
import type { DaemonFile } from "../../../base/launch-options.ts";
import { resolvePaths } from "../../../base/paths.ts";
import { type Client, createClient, type Transport, type TransportRequest } from "../../../client/client.ts";
import { actorHeader, capabilityHeader, capabilityVariable, socketVariable } from "../../../contract/caller.ts";
import { HoldfastError } from "../../../contract/errors.ts";
import { operations } from "../../../contract/operations.ts";
import type { InfoJson } from "../../../contract/daemon.ts";
import type { Context } from "../../context.ts";
import { findDaemon } from "./find-daemon.ts";
import { CutOff, type HttpResponse, SocketTransport } from "./socket-transport.ts";

/** A stop takes less than a second; a live daemon that refuses for longer has lost its socket. */
const refusedDeadlineMs = 10_000;
const pollMs = 25;
/** A daemon whose socket was removed listens there again immediately [DAEMON-18]. */
const socketBackMs = 1_000;
/** Per request. A daemon that keeps exiting right after its start is an error to report, not to retry forever. */
const mostStarts = 3;
/** Reads are answered immediately. A verb may take minutes (a checkout, an install): meanwhile the daemon is pinged. */
const answerDeadlineMs = 15_000;
const pulseMs = 15_000;
const pulseDeadlineMs = 10_000;

export function clientOf(context: Context): Client {
  return createClient({ transport: new PatientTransport(context), identity: identityOf(context) });
}

/** Headers by which an agent that calls the CLI acts as its own session. */
export function identityOf({ env }: Pick<Context, "env">): Record<string, string> {
  const session = env["HOLDFAST_SESSION"] ?? "";
  const capability = env[capabilityVariable] ?? "";
  return {
    ...(session === "" ? {} : { [actorHeader]: `session:${session}` }),
    // A stale capability would only cause refusals of calls that the daemon can identify on its own.
    ...(capability === "" || agentsSocketOf({ env }) === null ? {} : { [capabilityHeader]: capability }),
  };
}

/** The socket for agents if this command runs inside a launch of this home, otherwise null. */
export function agentsSocketOf({ env }: Pick<Context, "env">): string | null {
  const socket = env[socketVariable] ?? "";
  if (socket === "") return null;
  const home = env["HOLDFAST_HOME"] ?? "";
  // A command inside a launch that names another home means that home's daemon.
  return home === "" || resolvePaths(env).agentsSocket === socket ? socket : null;
}

function unreachable(message: string, hint: string): HoldfastError {
  return new HoldfastError("unreachable", message, { hint });
}

/** It reported to its starter and exited before it received a request. */
function exitedImmediately(): HoldfastError {
  const hint = "See why with `holdfast logs`; start it again with `holdfast start`.";
  return unreachable("Holdfast was started, but exited immediately.", hint);
}

/** Where a daemon is reached; a socket alone does not identify its process. */
type Reached = { socket: string; pid: number | null };

function unresponsive({ pid }: Reached): HoldfastError {
  const which = pid === null ? "The daemon" : `The daemon (pid ${pid})`;
  const hint = "See `holdfast logs`. Replace it with `holdfast restart`; sessions keep running.";
  return unreachable(`${which} is not responding.`, hint);
}

class PatientTransport implements Transport {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  async request(request: TransportRequest): Promise<HttpResponse> {
    const deadline = Date.now() + refusedDeadlineMs;
    const inside = agentsSocketOf(this.#context);
    if (inside !== null) {
      try {
        return await answered({ socket: inside, pid: null }, request);
      } catch (error) {
        if (!isRefused(error) && !(request.method === "GET" && isLost(error))) throw error;
        // A contained session sees only this socket of the home, and cannot start a daemon.
        if (!existsSync(this.#context.paths.database)) {
          throw unreachable(
            "Holdfast is not running.",
            "Ask the user to run `holdfast start` outside of this session.",
          );
        }
      }
    }
    const starts = { left: mostStarts };
    for (;;) {
      const file = await this.#locate(starts);
      try {
        return await answered(file, request);
      } catch (error) {
        if (!isRefused(error) && !(request.method === "GET" && isLost(error))) throw error;
        if (Date.now() > deadline) throw unresponsive(file);
        await new Promise((resume) => setTimeout(resume, pollMs));
      }
    }
  }

  async #locate(starts: { left: number }): Promise<DaemonFile> {
    const found = findDaemon(this.#context.paths);
    if (found.daemon === "running") return found.file;
    if (!this.#context.mayStart) {
      const orElse = this.#context.noStart === true ? ", or omit --no-start." : ".";
      throw unreachable("Holdfast is not running.", `Start it with \`holdfast start\`${orElse}`);
    }
    if (starts.left === 0) throw exitedImmediately();
    starts.left -= 1;
    const { startAgain } = await import("./control.ts");
    await startAgain(this.#context);
    const started = findDaemon(this.#context.paths);
    if (started.daemon !== "running") throw exitedImmediately();
    return started.file;
  }
}

/** No listener, or no socket yet: the request never left. */
function isRefused(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ECONNREFUSED" || code === "ENOENT";
}

/** The connection broke after the request was sent. Reads can be retried; a verb may have been executed. */
export function isLost(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return code === "ECONNRESET" || code === "EPIPE" || error instanceof CutOff;
}

async function answered(file: Reached, request: TransportRequest): Promise<HttpResponse> {
  const { response, abandon } = new SocketTransport(file.socket).exchange(request);
  const giveUp = (): void => abandon(unresponsive(file));
  const timer =
    request.method === "GET"
      ? setTimeout(giveUp, answerDeadlineMs)
      : setInterval(() => void hasPulse(file.socket).then((alive) => (alive ? undefined : giveUp())), pulseMs);
  try {
    return await response;
  } finally {
    clearTimeout(timer);
  }
}

/** The daemon's info, or null if it does not respond: a suspended process accepts connections and never answers. */
export async function readInfo(socket: string, deadlineMs: number): Promise<InfoJson | null> {
  const { method, path } = operations.info;
  const until = Date.now() + Math.min(deadlineMs, socketBackMs);
  for (;;) {
    const { response, abandon } = new SocketTransport(socket).exchange({ method, path, headers: {}, body: null });
    const timer = setTimeout(() => abandon(new Error("timed out")), deadlineMs);
    try {
      const { status, text } = await response;
      return status === 200 ? (JSON.parse(text) as InfoJson) : null;
    } catch (error) {
      if (!isRefused(error) || Date.now() >= until) return null;
    } finally {
      clearTimeout(timer);
    }
    await new Promise((resume) => setTimeout(resume, pollMs));
  }
}

export async function hasPulse(socket: string, deadlineMs = pulseDeadlineMs): Promise<boolean> {
  return (await readInfo(socket, deadlineMs)) !== null;
}
