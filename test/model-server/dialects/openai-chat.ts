import { schemaAt, splitMessage } from "../conversation.ts";
import type { Conversation, Dialect, Message, ReplyWriter } from "../conversation.ts";
import { newId } from "../ids.ts";
import { list, object, text } from "../json.ts";
import type { Json } from "../json.ts";

const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };

/** OpenAI chat completions: `POST /v1/chat/completions`. */
export const openaiChat: Dialect = {
  name: "openai-chat",

  matches: (path) => path === "/v1/chat/completions",

  read(_path, raw): Conversation {
    const body = object(raw);
    return {
      model: text(body["model"]),
      stream: body["stream"] === true,
      tools: list(body["tools"])
        .map((tool) => object(tool["function"]))
        .map((tool) => ({ name: text(tool["name"]), schema: schemaAt(tool, "parameters") })),
      messages: list(body["messages"]).flatMap(readMessage),
      replySchema: schemaAt(body, "response_format", "json_schema", "schema"),
    };
  },

  write(conversation, send): ReplyWriter {
    const head = { ...envelope(conversation), object: "chat.completion.chunk" };
    let toolCalls = 0;
    const emit = (delta: Json, finishReason: string | null = null, rest: Json = {}): void =>
      send({ ...head, choices: [{ index: 0, delta, finish_reason: finishReason }], ...rest });
    return {
      begin: () => emit({ role: "assistant", content: "" }),
      thinking: (chunk) => emit({ reasoning_content: chunk }),
      text: (chunk) => emit({ content: chunk }),
      toolCall(call) {
        const called = { name: call.name, arguments: JSON.stringify(call.input) };
        emit({ tool_calls: [{ index: toolCalls++, id: call.id, type: "function", function: called }] });
      },
      end() {
        emit({}, toolCalls > 0 ? "tool_calls" : "stop", { usage });
        send("[DONE]");
      },
    };
  },

  wholeReply: (conversation, said) => ({
    ...envelope(conversation),
    object: "chat.completion",
    choices: [{ index: 0, message: { role: "assistant", content: said }, finish_reason: "stop" }],
    usage,
  }),

  errorBody: (status, message) => ({
    error: { message, type: status >= 500 ? "server_error" : "invalid_request_error", code: null },
  }),
};

function envelope(conversation: Conversation): Json {
  return { id: newId("chatcmpl-"), created: Math.floor(Date.now() / 1000), model: conversation.model };
}

function readMessage(message: Json): Message[] {
  const content = message["content"];
  const texts = typeof content === "string" ? [content] : list(content).map((part) => text(part["text"]));
  switch (message["role"]) {
    case "user":
    case "assistant":
      return splitMessage(message["role"], texts, []);
    case "tool":
      return [{ role: "tool", text: texts.join("\n") }];
    default:
      return [];
  }
}
