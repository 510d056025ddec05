/**
 * The way to the daemon for commands: its socket as its file names it, never rebuilt. A refused connection means that
 * nothing was asked yet, so it is safe to wait for a daemon that is stopping, start one, and ask again.
 */
import { existsSync } from "node:fs";
import type { DaemonFile } from "../../../base/launch-options.ts";
import { resolvePaths } from "../../../base/paths.ts";
import { type Client, createClient, type Transport, type TransportRequest } from "../../../client/client.ts";
import { actorHeader, capabilityHeader, capabilityVariable, socketVariable } from "../../../contract/caller.ts";
import { HoldfastError } from "../../../contract/error.ts";
import { routes } from "../../../contract/http.ts";
import type { InfoJson } from "../../../contract/wire.ts";
import type { Context } from "../../context.ts";
import { findDaemon } from "./find-daemon.ts";
import { type Answer, CutOff, SocketTransport } from "./socket-transport.ts";

/** A stop is over within a second; a daemon that lives but refuses for longer has lost its socket. */
const refusedDeadlineMs = 10_000;
const pollMs = 25;
/** A daemon whose socket was removed listens there again at once [DAEMON-200]. */
const socketBackMs = 1_000;
/** Per request. A daemon that keeps exiting right after its start is an error to report, not to retry forever. */
const mostStarts = 3;
/** Questions are answered at once. A verb may take minutes (a checkout, an install): then the daemon is asked whether it lives. */
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
    // A stale one would only refuse what the daemon knows by itself.
    ...(capability === "" || agentsSocketOf({ env }) === null ? {} : { [capabilityHeader]: capability }),
  };
}

/** The socket for agents, where this command runs inside a launch of this home; null elsewhere. */
export function agentsSocketOf({ env }: Pick<Context, "env">): string | null {
  const socket = env[socketVariable] ?? "";
  if (socket === "") return null;
  const home = env["HOLDFAST_HOME"] ?? "";
  // Somebody inside a launch who names another home means that home's daemon.
  return home === "" || resolvePaths(env).agentsSocket === socket ? socket : null;
}

function notRunning(noStart: boolean): HoldfastError {
  return new HoldfastError("unreachable", "Holdfast is not running.", {
    hint: noStart ? "Start it with `holdfast start`, or leave out --no-start." : "Start it with `holdfast start`.",
  });
}

/** Seen from a contained session, which cannot start a daemon. */
function notRunningOutside(): HoldfastError {
  return new HoldfastError("unreachable", "Holdfast is not running.", {
    hint: "Ask the person to run `holdfast start` outside of this session.",
  });
}

/** It answered its starter and went, before it could be asked anything. */
function wentAgain(): HoldfastError {
  return new HoldfastError("unreachable", "Holdfast was started, but it ended right after its start.", {
    hint: "`holdfast logs` shows why; `holdfast start` starts it again.",
  });
}

/** Where a daemon is asked; its pid is not known by its socket alone. */
type Reached = { socket: string; pid: number | null };

function unresponsive({ pid }: Reached): HoldfastError {
  const which = pid === null ? "The daemon" : `The daemon (pid ${pid})`;
  return new HoldfastError("unreachable", `${which} does not answer.`, {
    hint: "See `holdfast logs`. `holdfast restart` replaces it; sessions keep running meanwhile.",
  });
}

class PatientTransport implements Transport {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  async request(request: TransportRequest): Promise<Answer> {
    const deadline = Date.now() + refusedDeadlineMs;
    const inside = agentsSocketOf(this.#context);
    if (inside !== null) {
      try {
        return await answered({ socket: inside, pid: null }, request);
      } catch (error) {
        if (!isRefused(error) && !(request.method === "GET" && isLost(error))) throw error;
        // A contained session sees this socket and nothing else of the home.
        if (!existsSync(this.#context.paths.database)) throw notRunningOutside();
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
    if (!this.#context.mayStart) throw notRunning(this.#context.noStart === true);
    if (starts.left === 0) throw wentAgain();
    starts.left -= 1;
    const { startAgain } = await import("./control.ts");
    await startAgain(this.#context);
    const started = findDaemon(this.#context.paths);
    if (started.daemon !== "running") throw wentAgain();
    return started.file;
  }
}

/** No listener, or no socket yet: the request never left. */
function isRefused(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ECONNREFUSED" || code === "ENOENT";
}

/** The daemon went while it was asked. A question can be put again; a verb may have been done. */
export function isLost(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return code === "ECONNRESET" || code === "EPIPE" || error instanceof CutOff;
}

async function answered(file: Reached, request: TransportRequest): Promise<Answer> {
  const { answer, abandon } = new SocketTransport(file.socket).exchange(request);
  const giveUp = (): void => abandon(unresponsive(file));
  const timer =
    request.method === "GET"
      ? setTimeout(giveUp, answerDeadlineMs)
      : setInterval(() => void hasPulse(file.socket).then((alive) => (alive ? undefined : giveUp())), pulseMs);
  try {
    return await answer;
  } finally {
    clearTimeout(timer);
  }
}

/** What the daemon says of itself, or null when it does not answer: a stopped process accepts connections and never does. */
export async function askInfo(socket: string, deadlineMs: number): Promise<InfoJson | null> {
  const { method, path } = routes.info;
  const until = Date.now() + Math.min(deadlineMs, socketBackMs);
  for (;;) {
    const { answer, abandon } = new SocketTransport(socket).exchange({ method, path, headers: {}, body: null });
    const timer = setTimeout(() => abandon(new Error("no answer in time")), deadlineMs);
    try {
      const { status, text } = await answer;
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
  return (await askInfo(socket, deadlineMs)) !== null;
}
