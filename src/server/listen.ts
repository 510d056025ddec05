/** Listening on a socket path or an address, with errors that name what is in the way. */
import { connect, type ListenOptions, type Server } from "node:net";
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
    throw new HoldfastError("conflict", `${path} is not a socket; it was not changed.`, {
      hint: "Move it away: this is where the daemon's socket belongs.",
    });
  }
  const answer = await probe(path);
  if (answer === "connected") {
    throw new HoldfastError("conflict", `Another program answers on ${path}; it was not changed.`, {
      hint: "Stop it, or set HOLDFAST_HOME to another directory.",
    });
  }
  if (answer === "ECONNREFUSED") unlinkSync(path);
  else if (answer !== "ENOENT") {
    throw new HoldfastError(
      "conflict",
      `Cannot determine which program uses ${path} (${answer}); it was not changed.`,
      {
        hint: "Stop the program that created it, or set HOLDFAST_HOME to another directory.",
      },
    );
  }
}

/** The socket needs no token because of this directory: in one that others may enter, it would be open to them. */
function checkDirectory(directory: string): void {
  const found = statSync(directory);
  if (found.uid !== process.getuid?.() || (found.mode & 0o077) !== 0) {
    throw new HoldfastError("conflict", `${directory} must belong to you alone (mode 0700) to contain the socket.`, {
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

/** A name server that does not answer is asked for minutes; no name of this machine takes as long as this. */
const lookUpMs = 5_000;

/** Resolves once it listens. Rejects with the reason; for a taken port with the program that has it. */
export function listenOn(server: Server, { path, host, port }: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => {
      clearTimeout(timer);
      reject(cannotListen(error, path ?? host ?? "", port));
    };
    const timer = setTimeout(() => onError(new Error(`its address was not found in ${lookUpMs / 1000} s`)), lookUpMs);
    server.once("error", onError);
    server.once("listening", () => {
      clearTimeout(timer);
      server.off("error", onError);
      resolve();
    });
    server.listen(path === undefined ? { host, port } : { path });
  });
}

const listenProblems: Record<string, string> = {
  EADDRNOTAVAIL: "this machine does not have that address",
  EACCES: "this user may not use that port",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "the host name could not be resolved",
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
  const why = listenProblems[error.code ?? ""] ?? error.message;
  return new HoldfastError("conflict", `Cannot listen on ${where}: ${why}.`, {
    hint: "Choose another address with --host or --port, or leave them out.",
    cause: error,
  });
}
