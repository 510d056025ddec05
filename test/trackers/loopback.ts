/**
 * Shared by all fake trackers: a server on loopback that counts its requests, supports conditional
 * requests, and misbehaves as often as a test requires.
 */
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

export type Misbehaviour =
  /** A server error, or any other status, with this body. */
  | { how: "status"; status: number; body?: unknown; headers?: Record<string, string> }
  /** Never responds; the connection closes when the client goes. */
  | { how: "hang" }
  /** Status 200 and a body that is not JSON. */
  | { how: "garbage" }
  /** Status 200 and JSON of another shape. */
  | { how: "wrong-shape"; body?: unknown }
  /** Closes the connection before it has responded. */
  | { how: "reset" }
  /** Starts a body and closes the connection in the middle. */
  | { how: "cut" }
  /** A body of this many bytes. */
  | { how: "flood"; bytes: number }
  /** The hourly limit is used up until `resetInSeconds` from now. */
  | { how: "limit"; resetInSeconds: number }
  /** Too many requests at the same time: wait this many seconds. */
  | { how: "slow-down"; retryAfterSeconds: number };

export interface ServedRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage["headers"];
  body: string;
}

export interface Reply {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

interface Rule {
  match: RegExp;
  left: number;
  what: Misbehaviour;
}

export abstract class Loopback {
  /** One line per request: `GET /path 200`. */
  readonly log: string[] = [];
  readonly seen: ServedRequest[] = [];
  requests = 0;
  notModified = 0;
  /** What the headers report as left of the hourly limit. */
  remaining = 5000;
  readonly limit: number = 5000;
  readonly #rules: Rule[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        response.writeHead(500, { "content-type": "application/json" });
        response.end(JSON.stringify({ message: String(error) }));
      });
    });
    // Closing a connection at the moment of the next request would be a failure that no test planned.
    this.#server.keepAliveTimeout = 600_000;
    this.#server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
      // A client that gave up is not our fault.
      socket.on("error", () => undefined);
    });
  }

  async listen(port = 0): Promise<this> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, "127.0.0.1", resolve);
    });
    return this;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  /** The next `times` requests whose `METHOD /path` matches fail like this. */
  fail(what: Misbehaviour, options: { match?: RegExp; times?: number } = {}): void {
    this.#rules.push({ match: options.match ?? /./, left: options.times ?? 1, what });
  }

  /** Everything works again. */
  heal(): void {
    this.#rules.length = 0;
  }

  resetCounters(): void {
    this.requests = 0;
    this.notModified = 0;
    this.log.length = 0;
    this.seen.length = 0;
  }

  /** `asked.path` begins with a slash and is not decoded: GitLab distinguishes `group%2Fname` from `group/name`. */
  protected abstract answer(asked: ServedRequest): Reply;
  protected abstract limitHeaders(): Record<string, string>;
  protected abstract limitReply(what: Misbehaviour & { how: "limit" | "slow-down" }): Reply;

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.url);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const method = request.method ?? "GET";
    const body = Buffer.concat(chunks).toString("utf8");
    const asked: ServedRequest = {
      method,
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body,
    };
    this.requests++;
    this.seen.push(asked);
    const name = `${method} ${url.pathname}`;
    const rule = this.#rules.find((one) => one.left > 0 && one.match.test(name));
    if (rule !== undefined) {
      rule.left--;
      this.log.push(`${name} ${rule.what.how}`);
      this.#misbehave(rule.what, request, response);
      return;
    }
    this.#send(name, asked, this.answer(asked), response);
  }

  #send(name: string, asked: ServedRequest, reply: Reply, response: ServerResponse): void {
    const isText = typeof reply.body === "string";
    const text = isText ? (reply.body as string) : JSON.stringify(reply.body);
    const headers: Record<string, string> = {
      "content-type": isText ? "text/plain; charset=utf-8" : "application/json; charset=utf-8",
    };
    if (asked.method === "GET" && reply.status === 200 && !isText) {
      headers["etag"] = `W/"${createHash("sha256").update(text).digest("hex")}"`;
      if (asked.headers["if-none-match"] === headers["etag"]) {
        // An unchanged response does not count toward the limit.
        this.notModified++;
        this.log.push(`${name} 304`);
        response.writeHead(304, { ...headers, ...this.limitHeaders(), ...reply.headers });
        response.end();
        return;
      }
    }
    this.remaining--;
    this.log.push(`${name} ${reply.status}`);
    response.writeHead(reply.status, { ...headers, ...this.limitHeaders(), ...reply.headers });
    response.end(text);
  }

  #misbehave(what: Misbehaviour, request: IncomingMessage, response: ServerResponse): void {
    const json = { "content-type": "application/json; charset=utf-8", ...this.limitHeaders() };
    switch (what.how) {
      case "status": {
        response.writeHead(what.status, { ...json, ...what.headers });
        response.end(JSON.stringify(what.body ?? { message: `Pretended ${what.status}` }));
        return;
      }
      case "hang":
        return;
      case "garbage": {
        response.writeHead(200, json);
        response.end("<html>Bad gateway</html>");
        return;
      }
      case "wrong-shape": {
        response.writeHead(200, json);
        response.end(JSON.stringify(what.body ?? { data: { repository: 7 }, number: "seven", state: ["open"] }));
        return;
      }
      case "reset": {
        request.socket.destroy();
        return;
      }
      case "cut": {
        response.writeHead(200, { ...json, "content-length": "1000" });
        response.write('{"data":');
        setImmediate(() => request.socket.destroy());
        return;
      }
      case "flood": {
        response.writeHead(200, json);
        response.end(`"${"x".repeat(what.bytes)}"`);
        return;
      }
      case "limit":
      case "slow-down": {
        const reply = this.limitReply(what);
        response.writeHead(reply.status, { ...json, ...reply.headers });
        response.end(JSON.stringify(reply.body));
      }
    }
  }
}

/** One page of a list, and where the next one is. */
export function pageOf<T>(
  all: readonly T[],
  query: URLSearchParams,
  usual = 30,
): { items: T[]; page: number; perPage: number; pages: number } {
  const perPage = Math.min(100, Math.max(1, Number(query.get("per_page") ?? usual)));
  const page = Math.max(1, Number(query.get("page") ?? 1));
  const pages = Math.max(1, Math.ceil(all.length / perPage));
  return { items: all.slice((page - 1) * perPage, page * perPage), page, perPage, pages };
}
