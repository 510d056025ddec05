/** Starts an agent on pipes and speaks ACP with it through the official client. Disposing it stops the process. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { client, ndJsonStream } from "@agentclientprotocol/sdk";
import type {
  ClientContext,
  ContentBlock,
  PromptResponse,
  RequestPermissionOutcome,
  RequestPermissionRequest,
  SessionUpdate,
} from "@agentclientprotocol/sdk";

export const root = join(import.meta.dirname, "../..");
export const demoAgent = join(root, "src/agents/demo/acp.ts");

type Permit = (asked: RequestPermissionRequest) => Promise<RequestPermissionOutcome>;

export interface ConnectOptions {
  env?: Record<string, string>;
  permit?: Permit;
}

export class ConnectedAgent implements AsyncDisposable {
  readonly process: ChildProcess;
  readonly agent: ClientContext;
  readonly updates: { sessionId: string; update: SessionUpdate }[] = [];
  readonly #exited: Promise<unknown>;
  #stderr = "";

  constructor(program: string, { env = {}, permit = allowOnce }: ConnectOptions = {}) {
    const child = spawn(process.execPath, [program], { env: { ...process.env, ...env } });
    this.process = child;
    this.#exited = once(child, "close");
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => (this.#stderr += chunk));
    child.stdin.on("error", () => {});
    const input = Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>;
    const output = Writable.toWeb(child.stdin) as WritableStream<Uint8Array>;
    this.agent = client({ name: "holdfast-tests" })
      .onRequest("session/request_permission", async ({ params }) => ({ outcome: await permit(params) }))
      .onNotification("session/update", ({ params }) => void this.updates.push(params))
      .connect(ndJsonStream(output, input)).agent;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** Initializes the connection and opens a session. */
  async open(cwd: string): Promise<string> {
    await this.initialize();
    return (await this.agent.request("session/new", { cwd, mcpServers: [] })).sessionId;
  }

  initialize() {
    return this.agent.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  }

  prompt(sessionId: string, ...prompt: (string | ContentBlock)[]): Promise<PromptResponse> {
    const blocks = prompt.map((part): ContentBlock => (typeof part === "string" ? { type: "text", text: part } : part));
    return this.agent.request("session/prompt", { sessionId, prompt: blocks });
  }

  /** The agent's text so far, or its thoughts, or the replayed user messages. */
  text(kind: SessionUpdate["sessionUpdate"] = "agent_message_chunk"): string {
    return this.updates
      .map(({ update }) => (update.sessionUpdate === kind && "content" in update ? textOf(update.content) : ""))
      .join("");
  }

  of<Kind extends SessionUpdate["sessionUpdate"]>(kind: Kind): Extract<SessionUpdate, { sessionUpdate: Kind }>[] {
    return this.updates.flatMap(({ update }) =>
      update.sessionUpdate === kind ? [update as Extract<SessionUpdate, { sessionUpdate: Kind }>] : [],
    );
  }

  async exit(): Promise<{ code: number | null; signal: string | null }> {
    await this.#exited;
    return { code: this.process.exitCode, signal: this.process.signalCode };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.process.kill("SIGKILL");
    await this.#exited;
  }
}

/** Options are distinguished by kind: their ids and order differ between agents. */
export function pick(asked: RequestPermissionRequest, kind: string): RequestPermissionOutcome {
  const option = asked.options.find((option) => option.kind === kind);
  return option === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId: option.optionId };
}

const allowOnce: Permit = (asked) => Promise.resolve(pick(asked, "allow_once"));

function textOf(content: unknown): string {
  const { type, text } = content as { type?: string; text?: string };
  return type === "text" ? (text ?? "") : "";
}
