/**
 * Listening on an address. `server.listen({ host })` looks even a numeric address up and on the way compiles Node's
 * pattern of IPv6 addresses, which is 6 ms of a start; a socket that is bound beforehand spares that, where Node has it.
 */
import { isIPv4, type ListenOptions, type Server } from "node:net";

type BoundSocketConstructor = new (options: { host: string; port: number }) => ListenOptions;

const { BoundSocket } = process.getBuiltinModule("node:net") as { BoundSocket?: BoundSocketConstructor };

/** A name server that does not answer is asked for minutes; no name of this machine takes as long as this. */
export const lookUpMs = 5_000;

/** A taken port is thrown or told as the server's `error`, as Node has it. */
export function listenOn(server: Server, host: string, port: number): void {
  const where = BoundSocket !== undefined && isIPv4(host) ? new BoundSocket({ host, port }) : { host, port };
  server.listen(where);
}
