/** Writes responses and refusals. A refused body is neither buffered nor allowed to reset the connection under the response. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { isExhausted, whyNotStarted } from "../base/run.ts";
import { errorBody, errorStatus, HoldfastError, type ErrorCode } from "../contract/errors.ts";

/**
 * Without `import`, which would read every export of the module: its getters (WebSocket, CloseEvent, MessageEvent) load
 * all of fetch, about 45 ms of the daemon's start.
 */
export const { createServer, STATUS_CODES } = process.getBuiltinModule("node:http");

export class Refusal extends HoldfastError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    message: string,
    options: { hint?: string; status?: number; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(code, message, options);
    this.status = options.status ?? errorStatus[code];
    this.headers = options.headers ?? {};
  }
}

const maxQuoted = 100;

/** External text for a message: short and without control characters. */
export function quoted(text: string): string {
  // eslint-disable-next-line no-control-regex -- that is what is taken out
  const clean = text.replace(/[\u0000-\u001f\u007f-\u009f]/g, "?");
  return `"${clean.length > maxQuoted ? `${clean.slice(0, maxQuoted)}…` : clean}"`;
}

/** xterm writes its cell sizes as style attributes; nothing else may be inline, and scripts never. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "connect-src 'self'",
  // Images of a prompt are shown from memory: before they are sent, and fetched with the token.
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Sent with every response, refusals and static files included. */
export const securityHeaders: Readonly<Record<string, string>> = {
  "Content-Security-Policy": contentSecurityPolicy,
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
};

/** Responses of the API contain work and secrets: no cache may store them. */
export const apiHeaders: Readonly<Record<string, string>> = {
  ...securityHeaders,
  "Cache-Control": "no-store",
  "Content-Type": "application/json; charset=utf-8",
};

/** A refused body up to this is read and dropped so that the connection stays usable; a larger one ends it. */
const dropBytes = 64 * 1024;
/** How long a sender of a refused body gets to read the response. */
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
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const { status, headers, text } = render(thrown);
  const unread = !request.complete && bodyBytes(request) > dropBytes;
  response.writeHead(status, unread ? { ...headers, Connection: "close" } : headers);
  if (!unread) {
    response.end(text);
    return;
  }
  // Closing over unread bytes makes the kernel reset the connection, and the response is lost with it.
  response.write(text);
  linger(request, () => response.end());
}

/** An upgrade has no response object yet: the same refusal, by hand. */
export function refuseUpgrade(socket: Duplex, thrown: unknown): void {
  const { status, headers, text } = render(thrown);
  const lines = Object.entries({ ...headers, Connection: "close" }).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("\r\n")}\r\n\r\n${text}`, () =>
    socket.destroy(),
  );
}

function render(thrown: unknown): { status: number; headers: Record<string, string>; text: string } {
  const error = explained(thrown);
  const text = JSON.stringify(errorBody(error));
  const own = error instanceof Refusal ? error.headers : {};
  const headers = { ...apiHeaders, "Content-Length": String(Buffer.byteLength(text)), ...own };
  const status = error instanceof HoldfastError ? errorStatus[error.code] : errorStatus.internal;
  return { status: error instanceof Refusal ? error.status : status, headers, text };
}

/** If the system has no resources left, the response gives the reason [TERMINAL-7]. */
function explained(cause: unknown): unknown {
  if (!isExhausted(cause)) return cause;
  return new HoldfastError("internal", `The daemon could not do this: ${whyNotStarted(cause)}.`, {
    hint: "Try again in a moment, and see `ulimit -n` of the daemon.",
    cause,
  });
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
