/** The HTTP side of a reply: JSON in one piece, or server-sent events that start with the first text. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Conversation, Dialect, ReplyWriter } from "./conversation.ts";

/** Sends nothing before the first text, so that a script may start with a failure or a pause. */
export function heldBack(dialect: Dialect, conversation: Conversation, response: ServerResponse): ReplyWriter {
  if (!conversation.stream) return inOnePiece(dialect, conversation, response);
  const inner = dialect.write(conversation, (data, event) => {
    if (event !== undefined) response.write(`event: ${event}\n`);
    response.write(`data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
  });
  const begin = (): void => {
    if (response.headersSent) return;
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
    inner.begin();
  };
  return {
    begin,
    thinking(chunk) {
      begin();
      inner.thinking(chunk);
    },
    text(chunk) {
      begin();
      inner.text(chunk);
    },
    toolCall(call) {
      begin();
      inner.toolCall(call);
    },
    end() {
      begin();
      inner.end();
    },
  };
}

/** For a request that did not ask for a stream: text only. */
function inOnePiece(dialect: Dialect, conversation: Conversation, response: ServerResponse): ReplyWriter {
  let text = "";
  return {
    begin() {},
    thinking() {},
    text(chunk) {
      text += chunk;
    },
    toolCall(call) {
      text += `(a call of ${call.name} needs a streamed request)`;
    },
    end() {
      sendJson(response, 200, dialect.wholeReply(conversation, text));
    },
  };
}

export function sendJson(response: ServerResponse, status: number, body: unknown): number {
  if (!response.headersSent) response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
  return status;
}

export async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  return text === "" ? undefined : JSON.parse(text);
}
