import { schemaAt, splitMessage } from "../conversation.ts";
import type { Conversation, Dialect, Message } from "../conversation.ts";
import { newId } from "../ids.ts";
import { list, object, text } from "../json.ts";
import type { Json } from "../json.ts";
import { ResponseItems } from "./response-items.ts";

/** OpenAI Responses: `POST /v1/responses`. */
export const openaiResponses: Dialect = {
  name: "openai-responses",

  matches: (path) => path === "/v1/responses",

  read(_path, raw): Conversation {
    const body = object(raw);
    const input = body["input"];
    const items = typeof input === "string" ? [{ type: "message", role: "user", content: input }] : list(input);
    return {
      model: text(body["model"]),
      stream: body["stream"] === true,
      tools: list(body["tools"]).map((tool) => ({
        name: text(tool["name"] ?? tool["type"]),
        schema: schemaAt(tool, "parameters"),
      })),
      messages: items.flatMap(readItem),
      replySchema: schemaAt(body, "text", "format", "schema"),
    };
  },

  write: (conversation, send) => new ResponseItems(conversation, send),

  wholeReply: (conversation, said) => ({
    id: newId("resp_"),
    object: "response",
    model: conversation.model,
    status: "completed",
    output: [
      {
        id: newId("msg_"),
        type: "message",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: said, annotations: [] }],
      },
    ],
    usage: { input_tokens: 10, output_tokens: 10, total_tokens: 20 },
  }),

  errorBody: (status, message) => ({
    error: { message, type: status >= 500 ? "server_error" : "invalid_request_error", code: null },
  }),
};

function readItem(item: Json): Message[] {
  switch (item["type"] ?? "message") {
    case "message": {
      const role = item["role"];
      return role === "user" || role === "assistant" ? splitMessage(role, texts(item["content"]), []) : [];
    }
    case "function_call_output":
    case "custom_tool_call_output":
      return [{ role: "tool", text: texts(item["output"]).join("\n") }];
    default:
      return [];
  }
}

function texts(content: unknown): string[] {
  return typeof content === "string" ? [content] : list(content).map((part) => text(part["text"]));
}
