/**
 * A stand-in for the daemon in tests of single commands: a real socket and a real daemon file, owned by this process,
 * with scripted answers. What is asked is kept, so that a test can see the request.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultLaunchOptions, type DaemonFile } from "../../base/launch-options.ts";
import { identify } from "../../base/pid.ts";
import type { SessionJson } from "../../contract/session.ts";
import type { EventJson } from "../../contract/stream.ts";
import { createContext } from "../context.ts";
import { dispatch } from "../main.ts";

export interface Asked {
  line: string;
  body: unknown;
  actor: string | undefined;
}

/** Answered with nothing: the daemon went in mid-question. */
export const dropConnection = Symbol("dropConnection");

/** An answer that is a function is asked for at each request. */
export type Script = Record<string, { status?: number; answer: unknown }>;

export interface StandIn {
  home: string;
  asked: Asked[];
  /** Runs a command in this process. */
  run: (argv: readonly string[], options?: RunOptions) => Promise<Ran>;
  close: () => Promise<void>;
}

export interface RunOptions {
  env?: Record<string, string>;
  cwd?: string;
  terminal?: boolean;
  size?: { columns: number; rows: number };
  now?: number;
}

export interface Ran {
  code: number;
  out: string;
  err: string;
}

/** `script` maps `GET /api/sessions` to its answer; anything else is not found. Null: no daemon runs. */
export async function standIn(script: Script | null): Promise<StandIn> {
  const home = mkdtempSync(join(tmpdir(), "hf-cli-"));
  mkdirSync(join(home, "run"));
  const asked: Asked[] = [];
  const server = script === null ? null : await serve(join(home, "s"), script, asked);
  if (server !== null) writeFileSync(join(home, "daemon.json"), JSON.stringify(ownDaemonFile(join(home, "s"))));
  return {
    home,
    asked,
    run: (argv, options) => runCommand(home, argv, options),
    close: async () => {
      server?.closeAllConnections();
      await new Promise((done) => (server === null ? done(null) : server.close(done)));
      rmSync(home, { recursive: true, force: true });
    },
  };
}

export function ownDaemonFile(socket: string): DaemonFile {
  const self = identify(process.pid)!;
  return {
    ...self,
    version: "1.2.3",
    build: "1.2.3+abc",
    url: "http://127.0.0.1:4710",
    socket,
    startedAt: 1_000,
    managedBy: null,
    options: defaultLaunchOptions,
  };
}

function serve(socket: string, script: Script, asked: Asked[]): Promise<Server> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const text = Buffer.concat(parts).toString();
      const line = `${request.method} ${request.url}`;
      asked.push({
        line,
        body: text === "" ? null : JSON.parse(text),
        actor: request.headers["holdfast-actor"] as string,
      });
      const { status = 200, answer } = script[line] ?? script[line.replace(/\?.*/, "")] ?? missing;
      if (answer instanceof EventLog && request.url?.startsWith("/api/events") === true) return answer.stream(response);
      const said = answerTo(answer, request.url ?? "", asked.at(-1)!);
      if (said === dropConnection) return void request.socket.destroy();
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(said));
    });
  });
  return new Promise((ready) => server.listen(socket, () => ready(server)));
}

function answerTo(answer: unknown, url: string, asked: Asked): unknown {
  if (answer instanceof EventLog) return answer.page(new URL(url, "http://x").searchParams);
  return typeof answer === "function" ? (answer as (asked: Asked) => unknown)(asked) : answer;
}

/** A session's events, as the daemon keeps and streams them; the answer to both of its operations. */
export class EventLog {
  readonly events: EventJson[] = [];
  readonly #followers = new Set<ServerResponse>();

  add(...events: ({ type: string } & Record<string, unknown>)[]): void {
    for (const event of events) {
      const sent = { seq: this.events.length + 1, at: "2026-01-01T00:00:00.000Z", ...event };
      this.events.push(sent as unknown as EventJson);
    }
    for (const follower of this.#followers) follower.write("data: {}\n\n");
  }

  page(query: URLSearchParams): EventJson[] {
    const since = Number(query.get("since"));
    return this.events.slice(since, since + Number(query.get("limit") ?? this.events.length));
  }

  stream(response: ServerResponse): void {
    response.writeHead(200, { "content-type": "text/event-stream" }).write("data: {}\n\n");
    this.#followers.add(response);
    response.once("close", () => this.#followers.delete(response));
  }
}

const missing = {
  status: 404,
  answer: {
    error: { code: "not-found", message: "Session not found", hint: null, details: { reason: "session-not-found" } },
  },
};

export async function runCommand(home: string, argv: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const out: string[] = [];
  const err: string[] = [];
  const context = createContext({
    env: { HOLDFAST_HOME: home, PATH: process.env["PATH"], ...options.env },
    cwd: options.cwd ?? home,
    dist: join(home, "no-such-dist"),
    io: {
      out: (text) => void out.push(`${text}\n`),
      write: (text) => void out.push(text),
      err: (text) => void err.push(text),
      isTerminal: () => options.terminal ?? false,
      terminalSize: () => options.size ?? null,
    },
    now: () => options.now ?? Date.parse("2026-01-02T00:00:00Z"),
  });
  const code = await dispatch(argv, context);
  return { code, out: out.join("").replace(/\n$/, ""), err: err.join("\n") };
}

export function sessionOf(changes: Partial<SessionJson> & { id: string }): SessionJson {
  return {
    name: changes.id,
    project: "my-app",
    kind: "terminal",
    role: "worker",
    agent: "claude",
    title: "Some work",
    status: "working",
    reason: null,
    intent: { want: "running", by: "person", at: "2026-01-01T00:00:00.000Z" },
    branch: "some-branch",
    base: "abc123",
    workspacePath: `/trees/${changes.id}`,
    issue: null,
    pullRequest: null,
    agentSessionId: null,
    processes: [],
    trash: null,
    workspace: "ready",
    attach: `tmux -L hf attach -t =${changes.id}`,
    activity: null,
    permissions: [],
    queued: 0,
    lastLine: null,
    createdAt: "2026-01-01T00:00:00.000Z",
    lastActivityAt: "2026-01-01T23:55:00.000Z",
    end: null,
    seq: 1,
    ...changes,
  };
}
