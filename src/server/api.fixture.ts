/** For tests: a whole API on a free port and a fresh socket, with a small caller in the daemon's place. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request as httpRequest, type IncomingHttpHeaders, type RequestOptions } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ApiRequest, Callers, Handlers, Logger, Tail, Terminals } from "../ports/api.ts";
import { operationNames, type OperationName } from "../contract/operations.ts";
import type { Frame } from "../contract/stream.ts";
import { openAccess, type Access, type AccessOptions } from "./access.ts";
import { createApi, type Api, type ApiOptions } from "./server.ts";

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  // Tests look at what came, whatever it is.
  json: { error?: { code: string; message: string; hint: string | null } } & Record<string, unknown>;
}

export type Logged = { level: string; message: string; fields: Record<string, unknown> | undefined };

export interface TestApi {
  api: Api;
  access: Access;
  directory: string;
  socket: string;
  port: number;
  url: string;
  token: string;
  tail: MemoryTail;
  asked: { route: string; ask: ApiRequest<OperationName> }[];
  logged: Logged[];
  now: { value: number };
  /** Over TCP, with the token and the right Host unless headers say otherwise. */
  tcp(method: string, path: string, options?: Sent): Promise<Answer>;
  unix(method: string, path: string, options?: Sent): Promise<Answer>;
  close(): Promise<void>;
}

export interface Sent {
  headers?: Record<string, string | undefined>;
  json?: unknown;
  body?: string | Buffer;
}

/** For tests that need none. */
export const noTerminals: Terminals = {
  open: () => Promise.reject(new Error("there are no terminals here")),
  typingNeeds: () => "answer",
};

/** As on a system that tells nothing about a connection's other end. */
export const trustingCallers: Callers = {
  peer: () => ({ is: "unknown" }),
  tcpPeer: () => ({ is: "unknown" }),
  actor: (_, { session }) => (session === null ? "person" : `session:${session}`),
};

type TestOptions = Partial<ApiOptions> & Partial<Pick<AccessOptions, "mode" | "settings">> & { home?: string };

export async function openTestApi(options: TestOptions = {}): Promise<TestApi> {
  const directory = options.home ?? temporaryDirectory();
  const logged: Logged[] = [];
  const asked: { route: string; ask: ApiRequest<OperationName> }[] = [];
  const now = { value: 1_700_000_000_000 };
  const tail = new MemoryTail();
  const access = openAccess({
    tokenFile: join(directory, "token"),
    passphraseFile: join(directory, "passphrase"),
    mode: options.mode ?? "token",
    settings: options.settings ?? memorySettings(),
    now: () => now.value,
    log: collectingLogger(logged),
  });
  const api = createApi({
    handlers: recordingHandlers(asked),
    authorize: () => undefined,
    callers: trustingCallers,
    tail,
    terminals: noTerminals,
    access,
    webDirectory: null,
    version: "1.2.3",
    build: "1.2.3+abc",
    readOnly: false,
    log: collectingLogger(logged),
    ...options,
  });
  const socket = join(directory, "s.sock");
  await api.listenSocket(socket);
  const { port, url } = await api.listenTcp("127.0.0.1", 0);
  await api.listenIpv6();
  const token = readFileSync(join(directory, "token"), "utf8").trim();
  return {
    api,
    access,
    directory,
    socket,
    port,
    url,
    token,
    tail,
    asked,
    logged,
    now,
    tcp: (method, path, sent = {}) =>
      send(
        { host: "127.0.0.1", port, method, path },
        { ...sent, headers: { authorization: `Bearer ${token}`, ...sent.headers } },
      ),
    unix: (method, path, sent = {}) => send({ socketPath: socket, method, path }, sent),
    close: async () => {
      await api.close();
      await access.settled();
      if (options.home === undefined) rmSync(directory, { recursive: true, force: true });
    },
  };
}

export function temporaryDirectory(): string {
  return mkdtempSync(join(tmpdir(), "hf-http-"));
}

export function send(target: RequestOptions, sent: Sent = {}): Promise<Answer> {
  const body = sent.json === undefined ? sent.body : JSON.stringify(sent.json);
  const type = sent.json === undefined ? {} : { "content-type": "application/json" };
  const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
  const headers = Object.fromEntries(
    Object.entries({ ...type, ...length, ...sent.headers }).filter(
      (each): each is [string, string] => each[1] !== undefined,
    ),
  );
  return new Promise((resolve, reject) => {
    const request = httpRequest({ agent: false, ...target, headers }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(parts).toString();
        const isJson = (response.headers["content-type"] ?? "").startsWith("application/json") && text !== "";
        const json = (isJson ? JSON.parse(text) : {}) as Answer["json"];
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json });
        request.destroy();
      });
    });
    request.on("error", reject);
    request.end(body);
  });
}

export function memorySettings(): AccessOptions["settings"] & { values: Map<string, string> } {
  const values = new Map<string, string>();
  return {
    values,
    get: (key) => values.get(key) ?? null,
    // As in the store, what is put can be read only once it is committed, which is later.
    put: async (key, value) => {
      await new Promise((committed) => setImmediate(committed));
      if (value === null) values.delete(key);
      else values.set(key, value);
    },
  };
}

export function collectingLogger(into: Logged[]): Logger {
  const at = (level: string) => (message: string, fields?: Record<string, unknown>) => {
    into.push({ level, message, fields });
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** Answers each route with its own name; a test that needs more puts its own handler in. */
export function recordingHandlers(
  asked: { route: string; ask: ApiRequest<OperationName> }[],
  own: Partial<Handlers> = {},
): Handlers {
  const entries = operationNames.map((route) => [
    route,
    (ask: ApiRequest<OperationName>) => {
      asked.push({ route, ask });
      return { route };
    },
  ]);
  return { ...(Object.fromEntries(entries) as Handlers), ...own };
}

/** A log in memory; `commit` appends events as one commit does. */
export class MemoryTail implements Tail {
  reads = 0;
  readonly #events: { cursor: number; session: string; text: string }[] = [];
  readonly #listeners = new Set<() => void>();
  /** Handed out at most at once. */
  readonly pageSize: number = 1000;

  get listeners(): number {
    return this.#listeners.size;
  }

  get cursor(): number {
    return this.#events.length;
  }

  commit(session = "ma-1", text = "x"): void {
    this.#events.push({ cursor: this.#events.length + 1, session, text });
    for (const listener of this.#listeners) listener();
  }

  hello(): ReturnType<Tail["hello"]> {
    return { frame: "hello", version: "1.2.3", build: "1.2.3+abc", cursor: this.cursor };
  }

  snapshot(): ReturnType<Tail["snapshot"]> {
    return { frame: "snapshot", cursor: this.cursor, sessions: [] };
  }

  read(cursor: number, session?: string): ReturnType<Tail["read"]> {
    this.reads++;
    if (cursor > this.cursor) return "unknown";
    const found = this.#events
      .slice(cursor)
      .filter((event) => session === undefined || event.session === session)
      .slice(0, this.pageSize);
    const last = found.at(-1);
    if (last === undefined) return null;
    const at = new Date(0).toISOString();
    const events = found.map((each) => ({
      seq: each.cursor,
      at,
      type: "notice" as const,
      level: "info" as const,
      session: each.session,
      text: each.text,
    }));
    const frame: Frame = { frame: "events", cursor: last.cursor, events, sessions: [] };
    return { cursor: last.cursor, json: JSON.stringify(frame) };
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
