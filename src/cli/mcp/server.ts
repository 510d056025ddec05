/**
 * The Model Context Protocol on stdio, as far as a server of tools needs it: one JSON-RPC message a line. Calls run side
 * by side, since one that waits for an agent's turn must not hold up a question.
 */
import { messageOf } from "../../contract/errors.ts";

/** Newest first; a client that names another one is offered the newest. */
const protocolVersions = ["2025-06-18", "2025-03-26", "2024-11-05"];
const parseError = -32_700;
const invalidRequest = -32_600;
const methodNotFound = -32_601;
const invalidParams = -32_602;

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

type Id = string | number;
interface Message {
  id?: Id;
  method?: unknown;
  params?: Record<string, unknown>;
}

export interface McpServer {
  take(line: string): void;
  /** The client says no more: what still runs may finish within the grace, then it is abandoned. */
  close(graceMs: number): Promise<void>;
}

export function createMcpServer(options: McpOptions): McpServer {
  const tools = new Map(options.tools.map((tool) => [tool.name, tool]));
  const running = new Map<Id, AbortController>();
  const calls = new Set<Promise<void>>();
  const send = (message: object): void => options.write(JSON.stringify({ jsonrpc: "2.0", ...message }));
  const fail = (id: Id | null, code: number, message: string): void => send({ id, error: { code, message } });

  const callTool = async (id: Id, params: Record<string, unknown>): Promise<void> => {
    const tool = tools.get(String(params["name"]));
    if (tool === undefined) return fail(id, invalidParams, `There is no tool ${String(params["name"])}.`);
    const input = (params["arguments"] ?? {}) as Record<string, unknown>;
    const fault = faultOf(tool, input);
    const stop = new AbortController();
    running.set(id, stop);
    try {
      const text = fault === null ? await tool.run(input, stop.signal) : fault;
      if (!stop.signal.aborted) send({ id, result: { content: [{ type: "text", text }], isError: fault !== null } });
    } catch (error) {
      // A failure is the tool's answer, for the model to read; errors of the protocol are for its client.
      if (!stop.signal.aborted)
        send({ id, result: { content: [{ type: "text", text: words(error) }], isError: true } });
    } finally {
      running.delete(id);
    }
  };

  const track = (call: Promise<void>): void => {
    calls.add(call);
    void call.finally(() => calls.delete(call));
  };

  const answer = (id: Id, method: string, params: Record<string, unknown>): void => {
    switch (method) {
      case "initialize":
        return send({ id, result: introduction(options, params) });
      case "ping":
        return send({ id, result: {} });
      case "tools/list":
        return send({ id, result: { tools: options.tools.map(listed) } });
      case "tools/call":
        return track(callTool(id, params));
      default:
        return fail(id, methodNotFound, `${method} is not supported.`);
    }
  };

  return {
    take: (line) => {
      if (line.trim() === "") return;
      const message = read(line);
      if (message === null) return fail(null, parseError, "This line is not JSON.");
      const { id, method, params = {} } = message;
      if (typeof method !== "string") {
        // An answer to a request of ours; we make none.
        if (id === undefined) fail(null, invalidRequest, "This is not a request.");
        return;
      }
      if (id !== undefined) return answer(id, method, params);
      if (method === "notifications/cancelled") running.get(params["requestId"] as Id)?.abort();
    },
    close: async (graceMs) => {
      const grace = new Promise((resolve) => setTimeout(resolve, graceMs).unref());
      await Promise.race([Promise.all(calls), grace]);
      for (const stop of running.values()) stop.abort();
    },
  };
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

function words(error: unknown): string {
  const hint = (error as { hint?: unknown }).hint;
  return typeof hint === "string" ? `${messageOf(error)} ${hint}` : messageOf(error);
}

function read(line: string): Message | null {
  try {
    const value = JSON.parse(line) as Message | null;
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}
