/**
 * Listening on an address. `server.listen({ host })` looks even a numeric address up and on the way compiles Node's
 * pattern of IPv6 addresses, which is 6 ms of a start; a socket that is bound beforehand spares that, where Node has it.
 */
import { isIPv4, type ListenOptions, type Server } from "node:net";
import { describeListener } from "../base/peer.ts";
import { HoldfastError } from "../contract/error.ts";

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
