/** The demo agent's side of ACP: which methods there are, and which session they concern. */
import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type {
  AvailableCommand,
  ContentBlock,
  InitializeResponse,
  ListSessionsResponse,
  LoadSessionResponse,
  NewSessionResponse,
  PromptResponse,
  SetSessionConfigOptionResponse,
} from "@agentclientprotocol/sdk";
import { conversationsDirectory, DemoConversation } from "../conversation.ts";
import { invalidParams, JsonRpcPeer, RpcError } from "./json-rpc.ts";
import type { Params } from "./json-rpc.ts";
import { titleOf } from "./prompt.ts";
import { DemoSession, replayOf } from "./session.ts";
import { DemoTurn } from "./turn.ts";

/** Of the agent's own behaviour, not of Holdfast. */
const version = "1";
const protocolVersion = 1;
const notFound = -32002;
const authRequired = -32000;
const authMethod = "demo-sign-in";

const commands: AvailableCommand[] = [
  { name: "help", description: "Lists what a prompt's lines can ask for" },
  { name: "history", description: "Says what is remembered" },
  { name: "clear", description: "Goes on without what was said, under a new session id" },
];

export interface DemoAgentParts {
  env: NodeJS.ProcessEnv;
  write(line: string): void;
  leave(code: number): void;
}

export class DemoAgent {
  readonly client: JsonRpcPeer;
  readonly #parts: DemoAgentParts;
  readonly #directory: string;
  readonly #sessions = new Map<string, DemoSession>();
  readonly #requests: Record<string, (params: Params) => object | Promise<object>> = {
    initialize: () => this.#initialize(),
    authenticate: (params) => this.#authenticate(params),
    "session/new": (params) => this.#new(params),
    "session/load": (params) => this.#load(params, "with replay"),
    "session/resume": (params) => this.#load(params, "without replay"),
    "session/list": (params) => this.#list(params),
    "session/close": (params) => this.#close(params),
    "session/delete": (params) => this.#delete(params),
    "session/prompt": (params) => this.#prompt(params),
    "session/set_mode": (params) => this.#setMode(params),
    "session/set_config_option": (params) => this.#setConfigOption(params),
  };

  constructor(parts: DemoAgentParts) {
    this.#parts = parts;
    this.#directory = conversationsDirectory(parts.env);
    this.client = new JsonRpcPeer({
      write: (line) => parts.write(line),
      answer: (method, params) => this.#answer(method, params),
      notified: (method, params) => {
        if (method === "session/cancel") this.#sessions.get(String(params["sessionId"]))?.cancel();
      },
    });
  }

  #answer(method: string, params: Params): Promise<object> | undefined {
    const request = Object.hasOwn(this.#requests, method) ? this.#requests[method] : undefined;
    return request && Promise.resolve(request(params));
  }

  #initialize(): InitializeResponse {
    const signIn = { id: authMethod, name: "Sign in", description: "Signs in to nothing at all" };
    return {
      protocolVersion,
      agentInfo: { name: "holdfast-demo", title: "Holdfast demo agent", version },
      authMethods: this.#parts.env["HOLDFAST_DEMO_AUTH"] === undefined ? [] : [signIn],
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, embeddedContext: true },
        sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
      },
    };
  }

  #authenticate(params: Params): object {
    const file = this.#parts.env["HOLDFAST_DEMO_AUTH"];
    if (file === undefined || params["methodId"] !== authMethod)
      throw new RpcError(invalidParams, "No such way to sign in");
    writeFileSync(file, "", { mode: 0o600 });
    return {};
  }

  /** Signed in for as long as the file that HOLDFAST_DEMO_AUTH names exists. */
  #needAuthentication(): void {
    const file = this.#parts.env["HOLDFAST_DEMO_AUTH"];
    if (file !== undefined && !existsSync(file)) throw new RpcError(authRequired, "Authentication required");
  }

  #new(params: Params): NewSessionResponse {
    this.#needAuthentication();
    const session = this.#create(directoryIn(params));
    this.#offerCommands(session);
    return { sessionId: session.conversation.id, ...session.picks() };
  }

  #create(cwd: string): DemoSession {
    const conversation = DemoConversation.create(this.#directory, randomUUID(), cwd);
    if (conversation === null) throw new Error("a new id was taken");
    return this.#open(new DemoSession(conversation, cwd));
  }

  #load(params: Params, how: "with replay" | "without replay"): LoadSessionResponse {
    this.#needAuthentication();
    const cwd = directoryIn(params);
    const id = String(params["sessionId"]);
    const live = this.#sessions.get(id)?.conversation;
    const conversation = live ?? DemoConversation.resume(this.#directory, id);
    // The directory is part of a conversation's name, as it is for agents that keep transcripts by project.
    if (conversation === null || (conversation.cwd !== null && conversation.cwd !== cwd)) throw noSession(id);
    const session = this.#sessions.get(id) ?? this.#open(new DemoSession(conversation, cwd));
    if (how === "with replay") {
      for (const update of replayOf(conversation.turns))
        this.client.notify("session/update", { sessionId: id, update });
    }
    this.#offerCommands(session);
    return session.picks();
  }

  #open(session: DemoSession): DemoSession {
    this.#sessions.set(session.conversation.id, session);
    return session;
  }

  #list(params: Params): ListSessionsResponse {
    const cwd = params["cwd"] ?? null;
    const files = existsSync(this.#directory)
      ? readdirSync(this.#directory).filter((name) => name.endsWith(".jsonl"))
      : [];
    const sessions = files.flatMap((name) => {
      const found = DemoConversation.resume(this.#directory, name.slice(0, -".jsonl".length));
      if (found === null || found.cwd === null || (cwd !== null && found.cwd !== cwd)) return [];
      const updatedAt = statSync(join(this.#directory, name)).mtime.toISOString();
      return [{ sessionId: found.id, cwd: found.cwd, title: titleOf(found.turns[0]?.prompt ?? ""), updatedAt }];
    });
    return { sessions: sessions.sort((a, b) => b.updatedAt.localeCompare(a.updatedAt)) };
  }

  #close(params: Params): object {
    const session = this.#sessionIn(params);
    session.cancel();
    this.#sessions.delete(session.conversation.id);
    return {};
  }

  /** Of one that is not there: done already. */
  #delete(params: Params): object {
    const id = String(params["sessionId"]);
    const live = this.#sessions.get(id);
    live?.cancel();
    this.#sessions.delete(id);
    (live?.conversation ?? DemoConversation.resume(this.#directory, id))?.remove();
    return {};
  }

  async #prompt(params: Params): Promise<PromptResponse> {
    const session = this.#sessionIn(params);
    const prompt = params["prompt"];
    if (!Array.isArray(prompt)) throw new RpcError(invalidParams, "A prompt is a list of content blocks");
    const parts = {
      session,
      client: this.client,
      env: this.#parts.env,
      clear: () => this.#clear(session),
      leave: (code: number) => this.#parts.leave(code),
    };
    return { stopReason: await session.enqueue((signal) => new DemoTurn(parts, signal).run(prompt as ContentBlock[])) };
  }

  /** The client learns the new id from the first update that carries it; the old conversation stays as it is. */
  #clear(session: DemoSession): void {
    const fresh = this.#create(session.cwd);
    fresh.setMode(session.mode);
    fresh.setModel(session.model);
    const update = { sessionUpdate: "session_info_update", title: "Untitled" };
    this.client.notify("session/update", { sessionId: fresh.conversation.id, update });
    this.#offerCommands(fresh);
  }

  #setMode(params: Params): object {
    const session = this.#sessionIn(params);
    if (!session.setMode(String(params["modeId"]))) throw new RpcError(invalidParams, "No such mode");
    return {};
  }

  #setConfigOption(params: Params): SetSessionConfigOptionResponse {
    const session = this.#sessionIn(params);
    if (params["configId"] !== "model" || !session.setModel(String(params["value"]))) {
      throw new RpcError(invalidParams, "No such option or value");
    }
    return { configOptions: session.picks().configOptions };
  }

  /** After the answer that names the session: a client cannot place it before. */
  #offerCommands({ conversation }: DemoSession): void {
    const update = { sessionUpdate: "available_commands_update", availableCommands: commands };
    setImmediate(() => this.client.notify("session/update", { sessionId: conversation.id, update }));
  }

  #sessionIn(params: Params): DemoSession {
    const id = String(params["sessionId"]);
    const session = this.#sessions.get(id);
    if (session === undefined) throw noSession(id);
    return session;
  }
}

function noSession(id: string): RpcError {
  return new RpcError(notFound, "Resource not found", { sessionId: id });
}

function directoryIn(params: Params): string {
  const cwd = params["cwd"];
  if (typeof cwd !== "string" || !isAbsolute(cwd)) throw new RpcError(invalidParams, "cwd must be an absolute path");
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) throw new RpcError(invalidParams, "cwd does not exist");
  return cwd;
}
