/** One model request, whichever API it arrived through. */
import type { Json } from "./json.ts";
import { at, object } from "./json.ts";

export interface Conversation {
  model: string;
  stream: boolean;
  /** Tools the agent offers. A request that offers none is auxiliary (titles, summaries, routing). */
  tools: Tool[];
  /** In the order sent; the agent's system prompt is left out. */
  messages: Message[];
  /** The required shape of the reply, if the request asks for JSON. */
  replySchema: Schema | undefined;
}

export interface Message {
  role: "user" | "assistant" | "tool";
  text: string;
}

/**
 * One message of an API, as separate messages: tool results first, then the text. Each user text is separate,
 * because agents put two prompts into one message when the first went unanswered.
 */
export function splitMessage(role: "user" | "assistant", texts: string[], toolResults: string[]): Message[] {
  const spoken = role === "user" ? texts : texts.length > 0 ? [texts.join("\n")] : [];
  return [
    ...toolResults.map((text): Message => ({ role: "tool", text })),
    ...spoken.map((text): Message => ({ role, text })),
  ];
}

export interface Tool {
  name: string;
  /** JSON schema of the arguments; absent for a free-text tool. */
  schema: Schema | undefined;
}

export interface Schema {
  type?: string | string[];
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
}

/** The schema at a path of a request's body, if there is one. */
export function schemaAt(body: unknown, ...path: string[]): Schema | undefined {
  const found = at(body, ...path);
  return found === undefined || found === null ? undefined : object(found);
}

export interface ToolCall {
  id: string;
  name: string;
  /** A string for a free-text tool. */
  input: Json | string;
}

/** Receives one reply, piece by piece. Nothing reaches the client before `begin`. */
export interface ReplyWriter {
  begin(): void;
  thinking(chunk: string): void;
  text(chunk: string): void;
  toolCall(call: ToolCall): void;
  end(): void;
}

/** One model API: how its requests are read and its replies written. */
export interface Dialect {
  name: string;
  matches(path: string): boolean;
  read(path: string, body: unknown): Conversation;
  /** A streamed reply. */
  write(conversation: Conversation, send: Send): ReplyWriter;
  /** A reply in one piece, for a request that did not ask for a stream. */
  wholeReply(conversation: Conversation, text: string): unknown;
  errorBody(status: number, message: string): unknown;
}

/** Sends one server-sent event; `event` is omitted by APIs that do not name their events. */
export type Send = (data: unknown, event?: string) => void;
