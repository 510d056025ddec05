/**
 * HTTP/1.0 over the daemon's unix socket, one connection per request. Written by hand because fetch cannot use a unix
 * socket and node:http adds 11 ms to a command (15 instead of 4 ms for the first request).
 */
import { connect, type Socket } from "node:net";
import type { Transport, TransportRequest } from "../../../client/client.ts";

export interface HttpResponse {
  status: number;
  text: string;
}

export interface Exchange {
  response: Promise<HttpResponse>;
  /** Closes the connection; `response` then rejects with this reason. */
  abandon: (reason: Error) => void;
}

/** The connection ended before the response was complete. */
export class CutOff extends Error {}

const headEnd = "\r\n\r\n";

export class SocketTransport implements Transport {
  readonly #socketPath: string;

  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  request(request: TransportRequest): Promise<HttpResponse> {
    return this.exchange(request).response;
  }

  exchange(request: TransportRequest): Exchange {
    const socket = this.#send(request);
    const parts: Buffer[] = [];
    const response = new Promise<HttpResponse>((resolve, reject) => {
      let failure: Error | null = null;
      let missing = Infinity;
      let settled = false;
      socket.on("data", (part: Buffer) => {
        // A response whose head arrives in pieces is read until the connection ends.
        if (parts.push(part) === 1) missing = lengthOf(part);
        missing -= part.length;
        if (missing <= 0) settle();
      });
      socket.on("error", (error) => (failure = error));
      const settle = (): void => {
        if (settled) return;
        const read = readResponse(Buffer.concat(parts));
        settled = typeof read !== "string";
        if (typeof read !== "string") resolve(read);
        else if (socket.closed) reject(failure ?? new CutOff(read));
      };
      // A response of known length is complete before the connection closes.
      socket.once("end", settle);
      // A daemon that refuses a body responds before reading all of it: a complete response counts despite the error.
      socket.once("close", settle);
    });
    return { response, abandon: (reason) => void socket.destroy(reason) };
  }

  /** Yields the lines of a streamed response, such as server-sent events, until the connection ends. */
  async *lines(path: string, identity: Readonly<Record<string, string>> = {}): AsyncGenerator<string> {
    const headers = { Accept: "text/event-stream", ...identity };
    const socket = this.#send({ method: "GET", path, headers, body: null });
    socket.setEncoding("utf8");
    let held = "";
    let inBody = false;
    try {
      for await (const part of socket as AsyncIterable<string>) {
        held += part;
        if (!inBody) {
          const at = held.indexOf(headEnd);
          if (at < 0) continue;
          inBody = true;
          held = held.slice(at + headEnd.length);
        }
        const lines = held.split("\n");
        held = lines.pop() ?? "";
        yield* lines;
      }
    } finally {
      socket.destroy();
    }
  }

  #send({ method, path, headers, body, signal }: TransportRequest): Socket {
    const socket = connect(this.#socketPath);
    const length = body === null ? {} : { "Content-Length": String(Buffer.byteLength(body)) };
    const fields = Object.entries({ Host: "localhost", ...headers, ...length });
    const head = [`${method} ${path} HTTP/1.0`, ...fields.map(([name, value]) => `${name}: ${value}`)];
    // A line break in a value would start another header; names and paths are ours and encoded.
    if (head.some((line) => /[\r\n]/.test(line))) throw new Error("a header must not contain a line break");
    socket.write(head.join("\r\n") + headEnd + (body ?? ""));
    const abort = (): void => void socket.destroy(signal?.reason as Error);
    if (signal?.aborted === true) abort();
    signal?.addEventListener("abort", abort, { once: true });
    return socket;
  }
}

/** The response, or why it is not complete. */
export function readResponse(bytes: Buffer): HttpResponse | string {
  const at = bytes.indexOf(headEnd);
  if (at < 0) return bytes.length === 0 ? "the connection was closed without a response" : "the response was cut off";
  const head = bytes.toString("latin1", 0, at);
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1];
  if (status === undefined) return "the response is not HTTP";
  const length = contentLength(head);
  const from = at + headEnd.length;
  if (length !== null && bytes.length < from + length) return "the response was cut off";
  return { status: Number(status), text: bytes.toString("utf8", from) };
}

/** The total length of a response by its first bytes; Infinity if unknown. */
function lengthOf(start: Buffer): number {
  const at = start.indexOf(headEnd);
  const length = at < 0 ? null : contentLength(start.toString("latin1", 0, at));
  return length === null ? Infinity : at + headEnd.length + length;
}

function contentLength(head: string): number | null {
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  return length === undefined ? null : Number(length);
}
