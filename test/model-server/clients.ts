/** Minimal clients of the four APIs, as the agents use them, for the tests of the server. */
import { list, at, object, text } from "./json.ts";
import type { Json } from "./json.ts";

export type Turn = { user: string } | { assistant: string } | { toolResult: string };

/** What a client sees of one reply. */
export interface Reply {
  status: number;
  text: string;
  toolCalls: { name: string; input: unknown }[];
}

export interface Client {
  name: string;
  /** How this client's shell tool is called for `ls -l`. */
  shellCall: { name: string; input: unknown };
  /** With `leave` it disconnects as soon as the reply has started, and rejects. */
  send(url: string, turns: Turn[], leave?: boolean): Promise<Reply>;
}

interface Api {
  name: string;
  path: string;
  shellCall: { name: string; input: unknown };
  body(turns: Turn[]): Json;
  collect(event: Json, reply: Reply): void;
}

export const shellSchema = {
  type: "object",
  properties: { command: { type: "string" }, description: { type: "string" } },
  required: ["command", "description"],
};

const anthropic: Api = {
  name: "anthropic",
  path: "/v1/messages?beta=true",
  shellCall: { name: "Bash", input: { command: "ls -l", description: "scripted" } },
  body: (turns) => ({
    model: "m",
    stream: true,
    tools: [{ name: "Bash", input_schema: shellSchema }],
    messages: turns.map(anthropicMessage),
  }),
  collect(event, reply) {
    const delta = object(event["delta"]);
    if (delta["type"] === "text_delta") reply.text += text(delta["text"]);
    const block = object(event["content_block"]);
    if (block["type"] === "tool_use") reply.toolCalls.push({ name: text(block["name"]), input: undefined });
    if (delta["type"] === "input_json_delta") reply.toolCalls.at(-1)!.input = JSON.parse(text(delta["partial_json"]));
  },
};

function anthropicMessage(turn: Turn): Json {
  if ("assistant" in turn) return { role: "assistant", content: turn.assistant };
  if ("toolResult" in turn) {
    return { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: turn.toolResult }] };
  }
  const wrapped = { type: "text", text: "<system-reminder>say: not this</system-reminder>" };
  return { role: "user", content: [wrapped, { type: "text", text: turn.user }] };
}

const responses: Api = {
  name: "openai-responses",
  path: "/v1/responses",
  shellCall: { name: "exec_command", input: { cmd: "ls -l" } },
  body: (turns) => ({
    model: "m",
    stream: true,
    tools: [
      {
        type: "function",
        name: "exec_command",
        parameters: { properties: { cmd: { type: "string" } }, required: ["cmd"] },
      },
      { type: "custom", name: "apply_patch" },
    ],
    input: turns.map(responsesItem),
  }),
  collect(event, reply) {
    if (event["type"] === "response.output_text.delta") reply.text += text(event["delta"]);
    if (event["type"] !== "response.output_item.done") return;
    const item = object(event["item"]);
    const name = text(item["name"]);
    if (item["type"] === "function_call") {
      reply.toolCalls.push({ name, input: JSON.parse(text(item["arguments"])) });
    }
    if (item["type"] === "custom_tool_call") reply.toolCalls.push({ name, input: item["input"] });
  },
};

function responsesItem(turn: Turn): Json {
  if ("toolResult" in turn) return { type: "function_call_output", call_id: "t", output: turn.toolResult };
  return "user" in turn
    ? { type: "message", role: "user", content: [{ type: "input_text", text: turn.user }] }
    : { type: "message", role: "assistant", content: [{ type: "output_text", text: turn.assistant }] };
}

const chat: Api = {
  name: "openai-chat",
  path: "/v1/chat/completions",
  shellCall: { name: "bash", input: { command: "ls -l", description: "scripted" } },
  body: (turns) => ({
    model: "m",
    stream: true,
    tools: [{ type: "function", function: { name: "bash", parameters: shellSchema } }],
    messages: turns.map((turn) => {
      if ("toolResult" in turn) return { role: "tool", tool_call_id: "t", content: turn.toolResult };
      return "user" in turn ? { role: "user", content: turn.user } : { role: "assistant", content: turn.assistant };
    }),
  }),
  collect(event, reply) {
    const delta = object(list(event["choices"])[0]?.["delta"]);
    reply.text += text(delta["content"]);
    for (const call of list(delta["tool_calls"])) {
      const input: unknown = JSON.parse(text(at(call, "function", "arguments")));
      reply.toolCalls.push({ name: text(at(call, "function", "name")), input });
    }
  },
};

const gemini: Api = {
  name: "gemini",
  path: "/v1beta/models/m:streamGenerateContent?alt=sse",
  shellCall: { name: "run_shell_command", input: { command: "ls -l" } },
  body: (turns) => ({
    tools: [
      {
        functionDeclarations: [
          {
            name: "run_shell_command",
            parametersJsonSchema: { properties: { command: { type: "string" } }, required: ["command"] },
          },
        ],
      },
    ],
    contents: turns.map((turn) => {
      if ("toolResult" in turn) {
        const response = { output: turn.toolResult };
        return { role: "user", parts: [{ functionResponse: { name: "run_shell_command", response } }] };
      }
      return "user" in turn
        ? { role: "user", parts: [{ text: turn.user }] }
        : { role: "model", parts: [{ text: turn.assistant }] };
    }),
  }),
  collect(event, reply) {
    for (const part of list(at(list(event["candidates"])[0], "content", "parts"))) {
      reply.text += text(part["text"]);
      const call = part["functionCall"];
      if (call !== undefined) reply.toolCalls.push({ name: text(at(call, "name")), input: at(call, "args") });
    }
  },
};

export const anthropicClient = client(anthropic);
export const responsesClient = client(responses);
export const chatClient = client(chat);
export const geminiClient = client(gemini);

function client(api: Api): Client {
  return {
    name: api.name,
    shellCall: api.shellCall,
    async send(url, turns, leave = false) {
      const leaving = new AbortController();
      const response = await fetch(url + api.path, {
        method: "POST",
        body: JSON.stringify(api.body(turns)),
        signal: leaving.signal,
      });
      if (leave) leaving.abort();
      const reply: Reply = { status: response.status, text: "", toolCalls: [] };
      const raw = await response.text();
      if (response.ok) {
        for (const line of raw.split("\n").filter((candidate) => candidate.startsWith("data: {"))) {
          api.collect(object(JSON.parse(line.slice("data: ".length))), reply);
        }
      }
      return reply;
    },
  };
}
