/**
 * The Model Context Protocol on stdio, as far as a server of tools needs it. Calls run concurrently: one that waits for
 * an agent's turn must not block the others.
 */
import { invalidParams, JsonRpcPeer, RpcError, type Id } from "../../base/json-rpc.ts";
import { bounded } from "../../base/async.ts";
import { messageOf } from "../../contract/errors.ts";

/** Newest first; a client that names another one is offered the newest. */
const protocolVersions = ["2025-06-18", "2025-03-26", "2024-11-05"];

export interface Tool {
  name: string;
  title: string;
  description: string;
  /** JSON Schema of the arguments, an object's. */
  inputSchema: { type: "object"; properties: Record<string, object>; required?: string[]; additionalProperties: false };
  /** What the client may take for granted: reading changes nothing. */
  readOnly: boolean;
  run(input: Record<string, unknown>, signal: AbortSignal): Promise<string>;
}

export interface McpOptions {
  name: string;
  version: string;
  /** Shown to the model by most clients. */
  instructions: string;
  tools: readonly Tool[];
  /** Writes one line. */
  write: (line: string) => void;
}

export interface McpServer {
  take(line: string): void;
  /** The client is done: running calls may finish within the grace period, then they are aborted. */
  close(graceMs: number): Promise<void>;
}

export function createMcpServer(options: McpOptions): McpServer {
  const tools = new Map(options.tools.map((tool) => [tool.name, tool]));
  const running = new Map<Id, AbortController>();
  const calls = new Set<Promise<unknown>>();

  const callTool = async (id: Id, params: Record<string, unknown>): Promise<object | null> => {
    const tool = tools.get(String(params["name"]));
    if (tool === undefined) throw new RpcError(invalidParams, `There is no tool ${String(params["name"])}.`);
    const input = (params["arguments"] ?? {}) as Record<string, unknown>;
    const fault = faultOf(tool, input);
    if (fault !== null) return toolResult(fault, true);
    const stop = new AbortController();
    running.set(id, stop);
    // A failure is the tool's result, for the model to read; protocol errors are for its client.
    const result = await tool.run(input, stop.signal).then(
      (text) => toolResult(text, false),
      (error: unknown) => toolResult(errorText(error), true),
    );
    running.delete(id);
    return stop.signal.aborted ? null : result;
  };

  const peer = new JsonRpcPeer({
    write: (line) => options.write(line.trimEnd()),
    answer: (method, params, id) => {
      switch (method) {
        case "initialize":
          return Promise.resolve(introduction(options, params));
        case "ping":
          return Promise.resolve({});
        case "tools/list":
          return Promise.resolve({ tools: options.tools.map(listed) });
        case "tools/call": {
          const call = callTool(id, params);
          calls.add(call);
          void call.catch(() => {}).finally(() => calls.delete(call));
          return call;
        }
        default:
          return undefined;
      }
    },
    notified: (method, params) => {
      if (method === "notifications/cancelled") running.get(params["requestId"] as Id)?.abort();
    },
  });

  return {
    take: (line) => peer.push(Buffer.from(`${line}\n`)),
    close: async (graceMs) => {
      await bounded(Promise.allSettled(calls), graceMs);
      for (const stop of running.values()) stop.abort();
    },
  };
}

function toolResult(text: string, isError: boolean): object {
  return { content: [{ type: "text", text }], isError };
}

function introduction({ name, version, instructions }: McpOptions, params: Record<string, unknown>): object {
  const wanted = String(params["protocolVersion"]);
  return {
    protocolVersion: protocolVersions.includes(wanted) ? wanted : protocolVersions[0],
    capabilities: { tools: {} },
    serverInfo: { name, version },
    instructions,
  };
}

function listed({ name, title, description, inputSchema, readOnly }: Tool): object {
  return { name, title, description, inputSchema, annotations: { readOnlyHint: readOnly, openWorldHint: false } };
}

/** Only what the tools' own schemas use: known names, what is required, and the plain types. */
function faultOf({ inputSchema }: Tool, input: Record<string, unknown>): string | null {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return "The arguments must be an object.";
  const { properties, required = [] } = inputSchema;
  const missing = required.find((name) => input[name] === undefined);
  if (missing !== undefined) return `${missing} is missing.`;
  for (const [name, value] of Object.entries(input)) {
    const schema = properties[name] as { type: string; enum?: string[] } | undefined;
    if (schema === undefined) return `There is no argument ${name}; there are ${Object.keys(properties).join(", ")}.`;
    const type = Number.isInteger(value) ? "integer" : typeof value;
    if (type !== schema.type) return `${name} must be of type ${schema.type}.`;
    if (schema.enum?.includes(String(value)) === false) return `${name} must be one of ${schema.enum.join(", ")}.`;
  }
  return null;
}

function errorText(error: unknown): string {
  const hint = (error as { hint?: unknown }).hint;
  return typeof hint === "string" ? `${messageOf(error)} ${hint}` : messageOf(error);
}
