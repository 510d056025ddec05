import { schemaAt, splitMessage } from "../conversation.ts";
import type { Conversation, Dialect, Message, ReplyWriter, Send } from "../conversation.ts";
import { newId } from "../ids.ts";
import { list, object, text } from "../json.ts";
import type { Json } from "../json.ts";

/** Anthropic Messages: `POST /v1/messages`. */
export const anthropic: Dialect = {
  name: "anthropic",

  matches: (path) => path === "/v1/messages",

  read(_path, raw): Conversation {
    const body = object(raw);
    return {
      model: text(body["model"]),
      stream: body["stream"] === true,
      tools: list(body["tools"]).map((tool) => ({ name: text(tool["name"]), schema: schemaAt(tool, "input_schema") })),
      messages: list(body["messages"]).flatMap(readMessage),
      replySchema: schemaAt(body, "output_config", "format", "schema") ?? schemaAt(body, "output_format", "schema"),
    };
  },

  write: (conversation, send) => new Blocks(conversation, send),

  wholeReply: (conversation, said) => ({
    ...emptyMessage(conversation.model),
    content: [{ type: "text", text: said }],
    stop_reason: "end_turn",
    usage: { input_tokens: 10, output_tokens: 10 },
  }),

  errorBody: (status, message) => ({ type: "error", error: { type: errorType(status), message } }),
};

function emptyMessage(model: string): Json {
  return {
    id: newId("msg_"),
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 1 },
  };
}

/** A reply is a list of blocks; each is opened, filled by deltas, and closed before the next. */
class Blocks implements ReplyWriter {
  readonly #model: string;
  readonly #send: Send;
  #index = -1;
  #open: "text" | "thinking" | undefined;
  #calledTool = false;

  constructor(conversation: Conversation, send: Send) {
    this.#model = conversation.model;
    this.#send = send;
  }

  begin(): void {
    this.#emit({ type: "message_start", message: emptyMessage(this.#model) });
  }

  thinking(chunk: string): void {
    this.#openAs("thinking");
    this.#delta({ type: "thinking_delta", thinking: chunk });
  }

  text(chunk: string): void {
    this.#openAs("text");
    this.#delta({ type: "text_delta", text: chunk });
  }

  toolCall(call: { id: string; name: string; input: Json | string }): void {
    this.#close();
    this.#calledTool = true;
    this.#start({ type: "tool_use", id: call.id, name: call.name, input: {} });
    this.#delta({ type: "input_json_delta", partial_json: JSON.stringify(call.input) });
    this.#emit({ type: "content_block_stop", index: this.#index });
  }

  end(): void {
    this.#close();
    const delta = { stop_reason: this.#calledTool ? "tool_use" : "end_turn", stop_sequence: null };
    this.#emit({ type: "message_delta", delta, usage: { output_tokens: 10 } });
    this.#emit({ type: "message_stop" });
  }

  #openAs(type: "text" | "thinking"): void {
    if (this.#open === type) return;
    this.#close();
    this.#open = type;
    this.#start(type === "text" ? { type, text: "" } : { type, thinking: "", signature: "" });
  }

  #close(): void {
    if (this.#open === "thinking") this.#delta({ type: "signature_delta", signature: "c2NyaXB0ZWQ=" });
    if (this.#open) this.#emit({ type: "content_block_stop", index: this.#index });
    this.#open = undefined;
  }

  #start(block: Json): void {
    this.#index++;
    this.#emit({ type: "content_block_start", index: this.#index, content_block: block });
  }

  #delta(delta: Json): void {
    this.#emit({ type: "content_block_delta", index: this.#index, delta });
  }

  #emit(event: { type: string; [key: string]: unknown }): void {
    this.#send(event, event.type);
  }
}

function errorType(status: number): string {
  if (status === 429) return "rate_limit_error";
  return status >= 500 ? "api_error" : "invalid_request_error";
}

function readMessage(message: Json): Message[] {
  const role = message["role"];
  if (role !== "user" && role !== "assistant") return [];
  const content = message["content"];
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : list(content);
  const toolResults = blocks
    .filter((block) => block["type"] === "tool_result")
    .map((block) => textOf(block["content"]));
  return splitMessage(role, texts(blocks), toolResults);
}

function textOf(content: unknown): string {
  return typeof content === "string" ? content : texts(list(content)).join("\n");
}

function texts(blocks: Json[]): string[] {
  return blocks.filter((block) => block["type"] === "text").map((block) => text(block["text"]));
}
