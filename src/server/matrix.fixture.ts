/**
 * Every route of the contract, asked with every credential, Host, Origin and method, over real sockets. What a credential
 * may do is data: a list of `Credential`s. A route that is added to the contract is asked by itself.
 */
import { Agent, request as httpRequest, type RequestOptions } from "node:http";
import type { Operation } from "../contract/operation.ts";
import { operation, operationNames, type ClientInput, type OperationName } from "../contract/operations.ts";
import { streamProtocol } from "../contract/stream.ts";
import type { TestApi } from "./api.fixture.ts";

/** What must come of a request: it reaches its handler, or it is refused (by one of these statuses, if any are given). */
export type Expected = "reached" | "refused" | readonly number[];

export interface Asking {
  name: OperationName;
  route: Operation;
  /** Upgrades are asked as such. */
  upgrade: boolean;
}

/** The parts of a request that a device signs. */
export interface Covered {
  method: string;
  /** With its query. */
  path: string;
  body: string;
}

export interface Credential {
  name: string;
  /** The socket has no Host and no Origin to check. */
  door: "tcp" | "socket" | "agents";
  /** Headers that carry it; `sent` is what a signature covers. */
  headers: (asking: Asking, sent: Covered) => Record<string, string> | Promise<Record<string, string>>;
  /** The only Origin it works from, where there is one. */
  origin?: string;
  /** Put into the address. */
  search?: string;
  /** With the right Host, Origin and method. */
  expected: (asking: Asking) => Expected;
}

/** A body that each operation with one accepts. The compiler reports a new operation that is missing here. */
export const bodies: { [N in OperationName as ClientInput<N> extends undefined ? never : N]: ClientInput<N> } = {
  spawn: { project: "p" },
  preflight: { project: "p" },
  stop: {},
  kill: {},
  restore: {},
  archive: {},
  unarchive: {},
  pin: {},
  unpin: {},
  wake: {},
  delete: {},
  snooze: { forMs: 1000 },
  rename: { title: "t" },
  convert: { kind: "chat" },
  cleanup: {},
  prompt: { promptId: "0190a5d2-0000-7000-8000-000000000000", text: "x" },
  promptEdit: { withdraw: true },
  answer: {},
  cancel: {},
  endTurn: {},
  configure: {},
  acpKill: {},
  acpRestart: {},
  primerDismiss: {},
  trackersRefresh: {},
  claimPullRequest: { pullRequest: "1" },
  pushSubscribe: { endpoint: "https://push.invalid/x", keys: { p256dh: "x", auth: "x" }, label: "x" },
  pushTest: {},
  projectAdd: { path: "/x" },
  trustAnswer: { digest: "x", trust: true },
  trashRestore: {},
  trashEmpty: {},
  daemonStop: {},
  login: { nonce: "x", publicKey: "x", proof: "x", name: "x" },
  loginLink: {},
  logout: {},
  deviceEdit: { name: "x" },
  tokenRotate: {},
};

/** Values for the parameters of a path, and what a query must have. */
export interface Named {
  params: Record<string, string>;
  queries?: Partial<Record<OperationName, string>>;
}

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const webSockets = new Set<OperationName>(["stream", "terminal"]);

/** Forms of Host that are not ours, of a port `at`. */
const foreignHosts = (at: number): string[] => [
  `evil.example:${at}`,
  `127.0.0.1.evil.example:${at}`,
  `localhost.:${at}`,
  "127.0.0.1",
  `127.0.0.1:${at + 1}`,
  `0.0.0.0:${at}`,
];
const foreignOrigins = (at: number): string[] => [
  "http://evil.example",
  `https://127.0.0.1:${at}`,
  `http://127.0.0.1:${at + 1}`,
  "http://localhost",
  "null",
  `http://127.0.0.1:${at}.evil.example`,
];
const ownOrigins = (at: number): string[] => [`http://127.0.0.1:${at}`, `http://localhost:${at}`];

interface Sent {
  method: string;
  headers: Record<string, string | undefined>;
  host?: string;
  origin?: string;
  expected: Expected;
  what: string;
}

export interface Result {
  requests: number;
  unexpected: string[];
}

/** With a second socket, on which nobody is the person. */
export type MatrixApi = TestApi & { agentsSocket: string };

export async function runMatrix(it: MatrixApi, credentials: readonly Credential[], named: Named): Promise<Result> {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const result: Result = { requests: 0, unexpected: [] };
  try {
    for (const name of operationNames) {
      const asking: Asking = { name, route: operation(name), upgrade: webSockets.has(name) };
      for (const credential of credentials) await askAll(it, agent, { asking, credential, named, result });
    }
  } finally {
    agent.destroy();
  }
  return result;
}

interface Round {
  asking: Asking;
  credential: Credential;
  named: Named;
  result: Result;
}

async function askAll(it: MatrixApi, agent: Agent, { asking, credential, named, result }: Round): Promise<void> {
  const { route, name } = asking;
  const expected = credential.expected(asking);
  const own = { method: route.method as string, expected };
  const plain: Sent[] = [{ ...own, headers: {}, what: "" }];
  const { port } = it;
  const crossed: Sent[] =
    credential.door !== "tcp"
      ? []
      : [
          ...ownOrigins(port).map((origin) => ({
            ...own,
            ...(isElsewhere(asking, credential, origin) ? { expected: [401] } : {}),
            headers: {},
            origin,
            what: `Origin ${origin}`,
          })),
          ...foreignHosts(port).map((host) => ({ ...own, headers: {}, host, expected: [421], what: `Host ${host}` })),
          ...foreignOrigins(port).map((origin) => ({
            ...own,
            headers: {},
            origin,
            expected: [403],
            what: `Origin ${origin}`,
          })),
          // A rebound page: both are its own.
          {
            ...own,
            headers: {},
            host: `evil.example:${port}`,
            origin: `http://evil.example:${port}`,
            expected: [421],
            what: "a rebound page",
          },
          // Nobody's word about where a request came from counts.
          {
            ...own,
            headers: { "x-forwarded-host": "evil.example", "x-forwarded-for": "127.0.0.1", forwarded: "for=127.0.0.1" },
            what: "forwarded headers",
          },
        ];
  const taken = new Set(
    operationNames.map(operation).flatMap((each) => (each.path === route.path ? allowed(each) : [])),
  );
  const override = { "x-http-method-override": route.method };
  const others: Sent[] = methods
    .filter((method) => !taken.has(method) && !asking.upgrade)
    .flatMap((method, at) => [
      { method, headers: {}, expected: "refused", what: `method ${method}` },
      ...(at > 0 ? [] : [{ method, headers: override, expected: "refused" as const, what: `${method}, overridden` }]),
    ]);
  const path = `${pathOf(route, named.params)}${searchOf([named.queries?.[name], credential.search])}`;
  // One after the other: whether a handler was reached is seen by its record.
  for (const sent of [...plain, ...crossed, ...others]) {
    const before = it.asked.length;
    const body = bodyOf(asking, sent.method);
    const headers = { ...(await credential.headers(asking, { method: sent.method, path, body })), ...sent.headers };
    const status = await ask(it, agent, { asking, path, body, sent: { ...sent, headers }, door: credential.door });
    const reached = it.asked.length > before || status < 400;
    result.requests++;
    if (isExpected(sent.expected, reached, status)) continue;
    const how = `${sent.method} ${route.path} with ${credential.name}${sent.what === "" ? "" : `, ${sent.what}`}`;
    result.unexpected.push(`${how}: ${status}${reached ? ", reached" : ""}, expected ${String(sent.expected)}`);
  }
}

function isElsewhere({ route }: Asking, { origin }: Credential, from: string): boolean {
  return origin !== undefined && origin !== from && route.who.device !== "anyone";
}

function bodyOf({ name, route }: Asking, method: string): string {
  if (method === "GET" || method === "HEAD" || method === "OPTIONS" || route.input === undefined) return "";
  return JSON.stringify(bodies[name as keyof typeof bodies]);
}

function isExpected(expected: Expected, reached: boolean, status: number): boolean {
  if (expected === "reached") return reached;
  return !reached && (expected === "refused" || expected.includes(status));
}

function allowed({ method }: Operation): string[] {
  return method === "GET" ? ["GET", "HEAD"] : [method];
}

function pathOf({ path }: Operation, params: Record<string, string>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? "0");
}

function searchOf(parts: readonly (string | undefined)[]): string {
  const given = parts.filter((part) => part !== undefined);
  return given.length === 0 ? "" : `?${given.join("&")}`;
}

interface Call {
  asking: Asking;
  path: string;
  body: string;
  sent: Sent;
  door: Credential["door"];
}

function ask(it: MatrixApi, agent: Agent, { asking, path, body, sent, door }: Call): Promise<number> {
  const { upgrade } = asking;
  const opening = { upgrade: "websocket", connection: "Upgrade", "sec-websocket-version": "13" };
  const headers = {
    ...(door === "tcp" ? { host: sent.host ?? `127.0.0.1:${it.port}` } : {}),
    ...(sent.origin === undefined ? {} : { origin: sent.origin }),
    ...(body === "" ? {} : { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) }),
    ...(upgrade ? { ...opening, "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==" } : {}),
    ...(upgrade ? { "sec-websocket-protocol": streamProtocol } : {}),
    ...Object.fromEntries(Object.entries(sent.headers).filter((each) => each[1] !== undefined)),
  };
  const socketPath = door === "agents" ? it.agentsSocket : it.socket;
  const where: RequestOptions = door === "tcp" ? { host: "127.0.0.1", port: it.port } : { socketPath };
  return new Promise((resolve, reject) => {
    const request = httpRequest({ ...where, agent, method: sent.method, path, headers }, (response) => {
      const status = response.statusCode ?? 0;
      response.on("error", () => undefined);
      if ((response.headers["content-type"] ?? "").startsWith("text/event-stream")) {
        request.destroy();
        resolve(status);
        return;
      }
      response.on("end", () => resolve(status));
      response.resume();
    });
    request.on("upgrade", (_, socket) => {
      socket.destroy();
      resolve(101);
    });
    request.on("error", reject);
    request.end(body);
  });
}
