/** The demo agent in a chat, dist/demo-acp.cjs: ACP over stdin and stdout. */
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
  PermissionOption,
  PermissionOptionKind,
  PromptResponse,
  SessionUpdate,
  SetSessionConfigOptionResponse,
  ToolCall,
} from "@agentclientprotocol/sdk";
import { invalidParams, JsonRpcPeer, RpcError, type Params } from "../../base/json-rpc.ts";
import { conversationsDirectory, DemoConversation } from "./conversation.ts";
import { DemoSession, replayOf, type Face } from "./engine.ts";
import { parseChatPrompt, type DemoStep } from "./script.ts";
import { endTools } from "./tools.ts";

/** Of the agent's own behavior, not of Holdfast. */
const version = "1";
const protocolVersion = 1;
const notFound = -32002;
const authRequired = -32000;
const authMethod = "demo-sign-in";

const commands: AvailableCommand[] = [
  { name: "help", description: "Lists what a prompt's lines can ask for" },
  { name: "history", description: "Shows what the agent remembers" },
  { name: "clear", description: "Continues without context, under a new session id" },
];

const permissionOptions: PermissionOption[] = [
  { optionId: "allow", name: "Allow", kind: "allow_once" },
  { optionId: "allow-always", name: "Always allow", kind: "allow_always" },
  { optionId: "reject", name: "Reject", kind: "reject_once" },
];

/** What the demo claims as the size of its context. */
const contextSize = 200_000;

class AcpFace implements Face {
  readonly client: JsonRpcPeer;
  readonly #directory = conversationsDirectory(process.env);
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

  constructor() {
    this.client = new JsonRpcPeer({
      write: (line) => process.stdout.write(line),
      answer: (method, params) => this.#answer(method, params),
      notified: (method, params) => {
        if (method === "session/cancel") this.#sessions.get(String(params["sessionId"]))?.cancel();
      },
    });
  }

  started(session: DemoSession, prompt: string): void {
    if (session.conversation.turns.length > 1) return;
    this.show(session, { sessionUpdate: "session_info_update", title: titleOf(prompt) });
  }

  show({ conversation }: DemoSession, update: SessionUpdate): void {
    this.client.notify("session/update", { sessionId: conversation.id, update });
  }

  async requestPermission(
    { conversation }: DemoSession,
    toolCall: ToolCall,
    signal: AbortSignal,
  ): Promise<PermissionOptionKind | undefined> {
    const params = { sessionId: conversation.id, toolCall, options: permissionOptions };
    const answer = await unlessAborted(this.client.request("session/request_permission", params), signal);
    const { outcome } = (answer ?? {}) as { outcome?: { outcome?: string; optionId?: string } };
    if (outcome?.outcome !== "selected") return undefined;
    return permissionOptions.find(({ optionId }) => optionId === outcome.optionId)?.kind;
  }

  /** The client learns the new id from the first update that carries it; the old conversation does not change. */
  clear(session: DemoSession): void {
    const fresh = this.#create(session.cwd);
    fresh.mode = session.mode;
    fresh.model = session.model;
    this.show(fresh, { sessionUpdate: "session_info_update", title: "Untitled" });
    this.#offerCommands(fresh);
  }

  /** Pipes and files are written synchronously on POSIX, so all output is out by now. */
  leave(code: number): void {
    endTools();
    process.exit(code);
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
      authMethods: process.env["HOLDFAST_DEMO_AUTH"] === undefined ? [] : [signIn],
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, embeddedContext: true },
        sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
      },
    };
  }

  #authenticate(params: Params): object {
    const file = process.env["HOLDFAST_DEMO_AUTH"];
    if (file === undefined || params["methodId"] !== authMethod)
      throw new RpcError(invalidParams, "No such way to sign in");
    writeFileSync(file, "", { mode: 0o600 });
    return {};
  }

  /** Signed in for as long as the file that HOLDFAST_DEMO_AUTH names exists. */
  #needAuthentication(): void {
    const file = process.env["HOLDFAST_DEMO_AUTH"];
    if (file !== undefined && !existsSync(file)) throw new RpcError(authRequired, "Authentication required");
  }

  #new(params: Params): NewSessionResponse {
    this.#needAuthentication();
    const session = this.#create(directoryIn(params));
    this.#offerCommands(session);
    return { sessionId: session.conversation.id, ...session.settings() };
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
      for (const update of replayOf(conversation.turns)) this.show(session, update);
    }
    this.#offerCommands(session);
    return session.settings();
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
    if (!Array.isArray(params["prompt"])) throw new RpcError(invalidParams, "A prompt is a list of content blocks");
    const prompt = params["prompt"] as ContentBlock[];
    const text = prompt.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
    const steps = [...prompt.flatMap(describeAttachment), ...parseChatPrompt(text)];
    const stopReason = await session.run(this, text, steps);
    if (stopReason === "end_turn") {
      const { turns } = session.conversation;
      const used = turns.reduce((sum, turn) => sum + turn.prompt.length + turn.reply.length, 0);
      this.show(session, { sessionUpdate: "usage_update", used: Math.ceil(used / 4), size: contextSize });
    }
    return { stopReason };
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
    return { configOptions: session.settings().configOptions };
  }

  /** After the response that names the session: a client cannot assign it before. */
  #offerCommands(session: DemoSession): void {
    const update: SessionUpdate = { sessionUpdate: "available_commands_update", availableCommands: commands };
    setImmediate(() => this.show(session, update));
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

/** A cancelled turn waits for no answer; a late one is ignored. */
function unlessAborted(answer: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new Error("cancelled"));
    signal.addEventListener("abort", stop, { once: true });
    answer.then(resolve, () => resolve(undefined)).finally(() => signal.removeEventListener("abort", stop));
  });
}

function titleOf(prompt: string): string {
  return (prompt.trim().split("\n")[0] ?? "").slice(0, 60) || "Untitled";
}

/** Proof that an attachment arrived. */
function describeAttachment(block: ContentBlock): DemoStep[] {
  const say = (text: string): DemoStep[] => [{ step: "say", text }];
  switch (block.type) {
    case "text":
      return [];
    case "image":
    case "audio":
      return say(`${block.type}: ${block.mimeType}, ${Buffer.from(block.data, "base64").length} bytes`);
    case "resource_link":
      return say(`link: ${block.uri}`);
    case "resource": {
      const { resource } = block;
      return say(`file: ${resource.uri}, ${("text" in resource ? resource.text : resource.blob).length} characters`);
    }
    default:
      return block satisfies never;
  }
}

const face = new AcpFace();
// The reader is gone. Any other failure (a full disk) lost output, and that is a crash.
process.stdout.on("error", (error: NodeJS.ErrnoException) => face.leave(error.code === "EPIPE" ? 0 : 1));
process.stdin.on("data", (chunk: Buffer) => face.client.push(chunk));
process.stdin.on("end", () => face.leave(0));
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => face.leave(0));
