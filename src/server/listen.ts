/**
 * Listening on an address. `server.listen({ host })` looks even a numeric address up and on the way compiles Node's
 * pattern of IPv6 addresses, which is 6 ms of a start; a socket that is bound beforehand spares that, where Node has it.
 */
import { isIPv4, type ListenOptions, type Server, connect } from "node:net";
import { describeListener } from "../base/peer.ts";
import { HoldfastError } from "../contract/errors.ts";
import { lstatSync, statSync, unlinkSync } from "node:fs";
import { dirname } from "node:path";
import { maxSocketBytes } from "../base/paths.ts";
import { quoteShellWord } from "../model/text.ts";

const probeMs = 1_000;

export async function claimSocketPath(path: string): Promise<void> {
  if (Buffer.byteLength(path) > maxSocketBytes) {
    throw new HoldfastError("usage", `The socket path is longer than ${maxSocketBytes} bytes: ${path}`, {
      hint: "Set HOLDFAST_HOME to a shorter directory.",
    });
  }
  checkDirectory(dirname(path));
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) {
    throw new HoldfastError("conflict", `${path} is not a socket; it was left alone.`, {
      hint: "Move it away: this is where the daemon's socket belongs.",
    });
  }
  const answer = await probe(path);
  if (answer === "connected") {
    throw new HoldfastError("conflict", `Another program answers on ${path}; it was left alone.`, {
      hint: "End it, or set HOLDFAST_HOME to another directory.",
    });
  }
  if (answer === "ECONNREFUSED") unlinkSync(path);
  else if (answer !== "ENOENT") {
    throw new HoldfastError("conflict", `It cannot be told who uses ${path} (${answer}); it was left alone.`, {
      hint: "End the program that made it, or set HOLDFAST_HOME to another directory.",
    });
  }
}

/** The socket needs no token because of this directory: in one that others may enter, it would be open to them. */
function checkDirectory(directory: string): void {
  const found = statSync(directory);
  if (found.uid !== process.getuid?.() || (found.mode & 0o077) !== 0) {
    throw new HoldfastError("conflict", `${directory} must belong to you alone (mode 0700) to hold the socket.`, {
      hint: `chmod 700 ${quoteShellWord(directory)}`,
    });
  }
}

function probe(path: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const finish = (answer: string): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => finish("no answer"), probeMs);
    socket.once("connect", () => finish("connected"));
    socket.once("error", (error: NodeJS.ErrnoException) => finish(error.code ?? error.message));
  });
}

type BoundSocketConstructor = new (options: { host: string; port: number }) => ListenOptions;

const { BoundSocket } = process.getBuiltinModule("node:net") as { BoundSocket?: BoundSocketConstructor };

/** A name server that does not answer is asked for minutes; no name of this machine takes as long as this. */
const lookUpMs = 5_000;

/** A taken port is thrown or told as the server's `error`, as Node has it. */
export function listenOn(server: Server, host: string, port: number): void {
  const where = BoundSocket !== undefined && isIPv4(host) ? new BoundSocket({ host, port }) : { host, port };
  server.listen(where);
}

/** Resolves once it listens. Fails with what keeps it from that; for a taken port with who has it. */
export function untilListening(server: Server, listen: () => void, where: string, port?: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => {
      clearTimeout(timer);
      reject(cannotListen(error, where, port));
    };
    const timer = setTimeout(() => onError(new Error(`its address was not found in ${lookUpMs / 1000} s`)), lookUpMs);
    server.once("error", onError);
    server.once("listening", () => {
      clearTimeout(timer);
      server.off("error", onError);
      resolve();
    });
    try {
      listen();
    } catch (error) {
      onError(error as NodeJS.ErrnoException);
    }
  });
}

const listenTroubles: Record<string, string> = {
  EADDRNOTAVAIL: "this machine does not have that address",
  EACCES: "this user may not use that port",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "the name of the host could not be looked up",
  ENETUNREACH: "this machine has no such network",
};

function cannotListen(error: NodeJS.ErrnoException, host: string, port?: number): HoldfastError {
  const where = port === undefined ? host : `${host}:${port}`;
  if (error.code === "EADDRINUSE") {
    const who = port === undefined ? "another program" : describeListener(port);
    return new HoldfastError("conflict", `${where} is taken by ${who}.`, {
      hint: "Choose another with --port, or --port 0 for a free one.",
      cause: error,
    });
  }
  const why = listenTroubles[error.code ?? ""] ?? error.message;
  return new HoldfastError("conflict", `Cannot listen on ${where}: ${why}.`, {
    hint: "Choose another address with --host or --port, or leave them out.",
    cause: error,
  });
}
