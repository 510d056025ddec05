import { schemaAt, splitMessage } from "../conversation.ts";
import type { Conversation, Dialect, Message, ReplyWriter } from "../conversation.ts";
import { at, list, object, text } from "../json.ts";
import type { Json } from "../json.ts";

const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 10, totalTokenCount: 20 };

/** Gemini: `POST /v1beta/models/<model>:streamGenerateContent?alt=sse` and `:generateContent`. */
export const gemini: Dialect = {
  name: "gemini",

  matches: (path) => /^\/v1(beta|alpha)?\/models\/[^/]+:(stream)?[gG]enerateContent$/.test(path),

  read(path, raw): Conversation {
    const body = object(raw);
    const declarations = list(body["tools"]).flatMap((tool) => list(tool["functionDeclarations"]));
    return {
      model: /models\/([^/:]+):/.exec(path)?.[1] ?? "",
      stream: path.endsWith(":streamGenerateContent"),
      tools: declarations.map((tool) => ({
        name: text(tool["name"]),
        schema: schemaAt(tool, "parametersJsonSchema") ?? schemaAt(tool, "parameters"),
      })),
      messages: list(body["contents"]).flatMap(readContent),
      replySchema:
        schemaAt(body, "generationConfig", "responseJsonSchema") ??
        schemaAt(body, "generationConfig", "responseSchema"),
    };
  },

  write(conversation, send): ReplyWriter {
    const emit = (parts: Json[], rest: Json = {}): void =>
      send({
        candidates: [{ index: 0, content: { role: "model", parts }, ...rest }],
        usageMetadata,
        modelVersion: conversation.model,
      });
    return {
      begin() {},
      thinking: (chunk) => emit([{ text: chunk, thought: true }]),
      text: (chunk) => emit([{ text: chunk }]),
      toolCall: (call) => emit([{ functionCall: { id: call.id, name: call.name, args: call.input } }]),
      end: () => emit([{ text: "" }], { finishReason: "STOP" }),
    };
  },

  wholeReply: (conversation, said) => ({
    candidates: [{ index: 0, content: { role: "model", parts: [{ text: said }] }, finishReason: "STOP" }],
    usageMetadata,
    modelVersion: conversation.model,
  }),

  errorBody: (status, message) => ({
    error: { code: status, message, status: status >= 500 ? "INTERNAL" : "INVALID_ARGUMENT" },
  }),
};

function readContent(content: Json): Message[] {
  const parts = list(content["parts"]);
  const toolResults = parts
    .filter((part) => part["functionResponse"] !== undefined)
    .map((part) => JSON.stringify(at(part, "functionResponse", "response")));
  const texts = parts
    .filter((part) => part["text"] !== undefined && part["thought"] !== true)
    .map((part) => text(part["text"]));
  return splitMessage(content["role"] === "model" ? "assistant" : "user", texts, toolResults);
}
