/** A scripted stand-in for the model behind a coding agent: executes the user's prompt. See README.md. */
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { parseArgs } from "node:util";
import type { Conversation, Dialect } from "./conversation.ts";
import { anthropic } from "./dialects/anthropic.ts";
import { gemini } from "./dialects/gemini.ts";
import { openaiChat } from "./dialects/openai-chat.ts";
import { openaiResponses } from "./dialects/openai-responses.ts";
import { heldBack, readJson, sendJson } from "./http.ts";
import { reply, ReplyState } from "./reply.ts";
import { remainingSteps, userTurns } from "./script.ts";
import type { Step } from "./script.ts";
import { standIn } from "./tools.ts";

const dialects: Dialect[] = [anthropic, openaiResponses, openaiChat, gemini];

export interface ModelServerOptions {
  /** 0, the default, picks a free port. */
  port?: number;
  /** Requests are appended to this file, one JSON object per line. */
  logFile?: string;
  /** Whether the log also contains the complete body of each request. */
  logBodies?: boolean;
}

/** One request, logged when it is done. */
export interface LogEntry {
  time: string;
  method: string;
  path: string;
  outcome: "answered" | "failed" | "dropped" | "client gone" | "not a model request" | "error";
  status: number;
  ms: number;
  dialect?: string;
  model?: string;
  tools?: string[];
  /** True for a request that offers no tools: a title, a summary, a routing question. */
  auxiliary?: boolean;
  /** The user's turns, oldest first; the last one is being answered. */
  turns?: string[];
  /** The executed steps of the last turn: all of them, or those after its answered tool calls. */
  steps?: Step[];
  error?: string;
  body?: unknown;
}

type Result = Omit<LogEntry, "time" | "method" | "path" | "ms" | "body">;

export interface ModelServer {
  url: string;
  /** Every finished request, oldest first. */
  log: LogEntry[];
  /** Lets replies past `gate: <name>`, now and from now on. */
  openGate(name: string): void;
  close(): Promise<void>;
}

export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const log: LogEntry[] = [];
  const state = new ReplyState();
  const record = async (handled: Promise<LogEntry>): Promise<void> => {
    const { body, ...entry } = await handled;
    const kept: LogEntry = options.logBodies === true ? { ...entry, body } : entry;
    log.push(kept);
    if (options.logFile !== undefined) appendFileSync(options.logFile, JSON.stringify(kept) + "\n");
  };
  const server = createServer((request, response) => {
    void record(handle(request, response, state));
  });
  // A gate may hold a request for longer than Node's default of five minutes.
  server.requestTimeout = 0;
  await new Promise<void>((resolve) => {
    server.listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    log,
    openGate: (name) => state.gates.open(name),
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

/** Answers one request and returns the outcome; never rejects. */
async function handle(request: IncomingMessage, response: ServerResponse, state: ReplyState): Promise<LogEntry> {
  const started = Date.now();
  const method = request.method ?? "GET";
  const path = new URL(request.url ?? "/", "http://localhost").pathname;
  let body: unknown;
  let result: Result;
  try {
    body = await readJson(request);
    result = await answer(method, path, body, response, state);
  } catch (error) {
    const status = sendJson(response, 400, { error: { message: String(error) } });
    result = { outcome: "error", status, error: String(error) };
  }
  return { time: new Date(started).toISOString(), method, path, ...result, ms: Date.now() - started, body };
}

async function answer(
  method: string,
  path: string,
  body: unknown,
  response: ServerResponse,
  state: ReplyState,
): Promise<Result> {
  const dialect = method === "POST" ? dialects.find((candidate) => candidate.matches(path)) : undefined;
  if (!dialect) return { outcome: "not a model request", status: answerOther(method, path, response, state) };

  const conversation = dialect.read(path, body);
  const auxiliary = conversation.tools.length === 0;
  const steps = auxiliary ? [] : remainingSteps(conversation);
  const ending = auxiliary
    ? answerAuxiliary(dialect, conversation, response)
    : await answerScripted(dialect, conversation, steps, response, state);
  return {
    ...ending,
    dialect: dialect.name,
    model: conversation.model,
    tools: conversation.tools.map((tool) => tool.name),
    auxiliary,
    turns: userTurns(conversation),
    steps,
  };
}

async function answerScripted(
  dialect: Dialect,
  conversation: Conversation,
  steps: Step[],
  response: ServerResponse,
  state: ReplyState,
): Promise<Result> {
  const clientGone = new AbortController();
  response.on("close", () => clientGone.abort());
  const writer = heldBack(dialect, conversation, response);
  try {
    const ending = await reply(steps, { conversation, writer, state, signal: clientGone.signal });
    if (ending.kind === "done") {
      writer.end();
      response.end();
      return { outcome: "answered", status: 200 };
    }
    if (ending.kind === "fail" && !response.headersSent) {
      const status = sendJson(response, ending.status, dialect.errorBody(ending.status, "scripted failure"));
      return { outcome: "failed", status };
    }
    response.destroy();
    return { outcome: "dropped", status: response.headersSent ? 200 : 0 };
  } catch (error) {
    if (!clientGone.signal.aborted) throw error;
    return { outcome: "client gone", status: response.headersSent ? 200 : 0 };
  }
}

function answerAuxiliary(dialect: Dialect, conversation: Conversation, response: ServerResponse): Result {
  const { replySchema } = conversation;
  const writer = heldBack(dialect, conversation, response);
  writer.text(replySchema ? JSON.stringify(standIn(replySchema)) : "scripted");
  writer.end();
  response.end();
  return { outcome: "answered", status: 200 };
}

function answerOther(method: string, path: string, response: ServerResponse, state: ReplyState): number {
  const gate = /^\/gates\/([\w-]+)$/.exec(path)?.[1];
  if (method === "POST" && gate !== undefined) {
    state.gates.open(gate);
    return sendJson(response, 200, { opened: gate });
  }
  if (path.endsWith("/count_tokens")) return sendJson(response, 200, { input_tokens: 10 });
  if (path.endsWith(":countTokens")) return sendJson(response, 200, { totalTokens: 10 });
  if (path === "/") return sendJson(response, 200, { ok: true });
  return sendJson(response, 404, { error: { message: `no such path: ${path}` } });
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      port: { type: "string", default: "0" },
      log: { type: "string" },
      bodies: { type: "boolean", default: false },
    },
  });
  const logFile = values.log === undefined ? {} : { logFile: values.log };
  const server = await startModelServer({ port: Number(values.port), logBodies: values.bodies, ...logFile });
  console.log(JSON.stringify({ url: server.url, pid: process.pid }));
}
