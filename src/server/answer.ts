/** Writes answers and refusals. A refused body is neither buffered nor left to reset the connection under the answer. */
import { STATUS_CODES, type IncomingMessage, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { isExhausted, whyNotStarted } from "../base/run.ts";
import { errorBody, errorStatus, HoldfastError } from "../contract/error.ts";
import { apiHeaders } from "./headers.ts";
import { Refusal } from "./refusal.ts";

/** A refused body up to this is read and dropped so that the connection stays usable; a larger one ends it. */
const dropBytes = 64 * 1024;
/** How long a sender of a refused body gets to read the answer. */
const lingerMs = 500;

export function sendJson(response: ServerResponse, value: unknown): void {
  const text = JSON.stringify(value);
  response.writeHead(200, { ...apiHeaders, "Content-Length": Buffer.byteLength(text) });
  response.end(text);
}

export function sendBytes(
  response: ServerResponse,
  { mimeType, bytes }: { mimeType: string; bytes: Uint8Array },
): void {
  response.writeHead(200, { ...apiHeaders, "Content-Type": mimeType, "Content-Length": bytes.length });
  response.end(bytes);
}

export function sendError(request: IncomingMessage, response: ServerResponse, thrown: unknown): void {
  const error = told(thrown);
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const text = JSON.stringify(errorBody(error));
  const headers: Record<string, string | number> = {
    ...apiHeaders,
    "Content-Length": Buffer.byteLength(text),
    ...(error instanceof Refusal ? error.headers : {}),
  };
  const unread = !request.complete && bodyBytes(request) > dropBytes;
  if (unread) headers["Connection"] = "close";
  response.writeHead(statusOf(error), headers);
  if (!unread) {
    response.end(text);
    return;
  }
  // Closing over unread bytes makes the kernel reset the connection, and the answer is lost with it.
  response.write(text);
  linger(request, () => response.end());
}

/** An upgrade has no response object yet: the same refusal, by hand. */
export function refuseUpgrade(socket: Duplex, thrown: unknown): void {
  const error = told(thrown);
  const status = statusOf(error);
  const text = JSON.stringify(errorBody(error));
  const headers = {
    ...apiHeaders,
    "Content-Length": String(Buffer.byteLength(text)),
    Connection: "close",
    ...(error instanceof Refusal ? error.headers : {}),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("\r\n")}\r\n\r\n${text}`, () =>
    socket.destroy(),
  );
}

/** Where the system has nothing left, the answer gives the reason [PROC-200]. */
function told(error: unknown): unknown {
  if (!isExhausted(error)) return error;
  const hint = "Try again in a moment, and see `ulimit -n` of the daemon.";
  return new HoldfastError("internal", `The daemon could not do this: ${whyNotStarted(error)}.`, {
    hint,
    cause: error,
  });
}

function statusOf(error: unknown): number {
  if (error instanceof Refusal) return error.status;
  return error instanceof HoldfastError ? errorStatus[error.code] : errorStatus.internal;
}

function bodyBytes(request: IncomingMessage): number {
  if (request.headers["transfer-encoding"] !== undefined) return Infinity;
  return Number(request.headers["content-length"] ?? 0);
}

function linger(request: IncomingMessage, done: () => void): void {
  const finish = (): void => {
    clearTimeout(timer);
    request.off("end", finish).off("close", finish).off("error", finish);
    done();
  };
  const timer = setTimeout(finish, lingerMs);
  request.on("end", finish).on("close", finish).on("error", finish);
  request.resume();
}
