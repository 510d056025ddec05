/**
 * Runs inside the network namespace, as the agent's parent: 127.0.0.1 there leads to the proxy outside. Keeps the proxy
 * running as long as the agent runs. The terminal or Holdfast signals every process of the namespace, so forwarding
 * signals would deliver them twice. The agent's exit status becomes this process's own.
 * The machine's own loopback ports that the list names are available under the same numbers: for programs without proxy
 * support, and for agents that talk to themselves over loopback.
 * argv: SOCKET PORT HOST:PORT,... COMMAND...
 */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { connect, createServer, type Server, type Socket } from "node:net";
import { holdRequest } from "./request.ts";

/** While the proxy is being replaced. */
const retryMs = 50;
const retriedForMs = 20_000;
/** How long the proxy stays after this process exits: a crashed agent is relaunched. */
const lingerMs = 3_000;

// Agents stop their servers by name ("pkill node"); this also changes the command line.
process.title = "holdfast-bridge";
const [socket = "", port = "", forwards = "", ...command] = process.argv.slice(2);

for (const signal of ["SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
// A failed connection must not stop the agent.
process.on("uncaughtException", () => undefined);

/** The proxy's socket, once it responds. */
function reach(use: (server: Socket) => void, giveUp: () => void, until = performance.now() + retriedForMs): void {
  const server = connect({ path: socket, allowHalfOpen: true });
  const failed = (): void => {
    server.destroy();
    if (performance.now() > until) giveUp();
    else setTimeout(() => reach(use, giveUp, until), retryMs);
  };
  server.once("error", failed);
  server.once("connect", () => {
    server.off("error", failed);
    use(server);
  });
}

function pass(one: Socket, other: Socket): void {
  one.pipe(other);
  one.on("error", () => one.destroy());
  one.once("close", (failed) => (failed ? other.destroy() : other.end(() => other.destroy())));
}

function hold(): void {
  const again = (): void => void setTimeout(hold, retryMs);
  reach((server) => {
    server.on("error", () => server.destroy()).once("close", again);
    server.once("end", () => server.destroy()).resume();
    server.write(holdRequest(lingerMs));
  }, again);
}

/** `first` is sent before the client's data, and its response is dropped. */
function listener(first: string | null): Server {
  return createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
    client.on("error", () => client.destroy());
    const use = (server: Socket): void => {
      if (client.destroyed) return void server.destroy();
      pass(client, server);
      pass(server, client);
    };
    const begin = first === null ? use : (server: Socket) => asked(server, first, () => use(server), client);
    reach(begin, () => client.destroy());
  });
}

function asked(server: Socket, request: string, then: () => void, client: Socket): void {
  const refused = (): void => {
    server.destroy();
    client.destroy();
  };
  server.once("error", refused).once("end", refused);
  // The proxy responds with one head, and the server's data may follow directly.
  let head = Buffer.alloc(0);
  const take = (bytes: Buffer): void => {
    head = Buffer.concat([head, bytes]);
    const end = head.indexOf("\r\n\r\n");
    if (end < 0) return;
    server.off("data", take).off("error", refused).off("end", refused).pause();
    if (!head.toString("latin1", 0, end).startsWith("HTTP/1.1 200 ")) return refused();
    if (head.length > end + 4) server.unshift(head.subarray(end + 4));
    then();
  };
  server.on("data", take);
  server.write(request);
}

for (const endpoint of forwards.split(",").filter((text) => text !== "")) {
  const own = listener(`CONNECT ${endpoint} HTTP/1.1\r\n\r\n`);
  own.once("error", (error) =>
    process.stderr.write(`holdfast: ${endpoint} is not reachable directly: ${error.message}\n`),
  );
  own.listen(Number(endpoint.slice(endpoint.lastIndexOf(":") + 1)), "127.0.0.1");
}

const entry = listener(null);
entry.once("error", (error) => {
  process.stderr.write(`holdfast: cannot open the network of this session: ${error.message}\n`);
  process.exit(125);
});
entry.listen(Number(port), "127.0.0.1", () => {
  hold();
  const agent = spawn(command[0]!, command.slice(1), { stdio: "inherit" });
  agent.once("error", (error: NodeJS.ErrnoException) => {
    process.stderr.write(`holdfast: cannot start ${command[0]}: ${error.message}\n`);
    process.exit(error.code === "ENOENT" ? 127 : 126);
  });
  agent.once("exit", (code, signal) => process.exit(signal === null ? (code ?? 1) : 128 + constants.signals[signal]));
});
