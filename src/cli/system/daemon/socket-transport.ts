/**
 * HTTP/1.0 over the daemon's unix socket: one connection a request, the answer ends with it. Written by hand because
 * fetch cannot speak to a unix socket and node:http takes 15 ms of a command's first request; this takes 4.
 */
import type { Socket } from "node:net";
import type { Transport, TransportRequest } from "../../../client/client.ts";

export interface Answer {
  status: number;
  text: string;
}

export interface Exchange {
  answer: Promise<Answer>;
  /** Lets go of the connection; `answer` then fails with this reason. */
  abandon: (reason: Error) => void;
}

/** The connection ended before the answer did. */
export class CutOff extends Error {}

const headEnd = "\r\n\r\n";

export class SocketTransport implements Transport {
  readonly #socketPath: string;

  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  request(ask: TransportRequest): Promise<Answer> {
    return this.exchange(ask).answer;
  }

  exchange(ask: TransportRequest): Exchange {
    const socket = this.#send(ask);
    const parts: Buffer[] = [];
    const answer = new Promise<Answer>((resolve, reject) => {
      let failure: Error | null = null;
      let missing = Infinity;
      let settled = false;
      socket.on("data", (part: Buffer) => {
        // An answer whose head comes in pieces is waited for until the connection ends.
        if (parts.push(part) === 1) missing = lengthOf(part);
        missing -= part.length;
        if (missing <= 0) settle();
      });
      socket.on("error", (error) => (failure = error));
      const settle = (): void => {
        if (settled) return;
        const read = readAnswer(Buffer.concat(parts));
        settled = typeof read !== "string";
        if (typeof read !== "string") resolve(read);
        else if (socket.closed) reject(failure ?? new CutOff(read));
      };
      // Taking the connection down need not be waited for, nor its end where the length is known: parts of a millisecond.
      socket.once("end", settle);
      // A daemon that refuses a body answers before it has read all of it: an answer that is whole counts, error or not.
      socket.once("close", settle);
    });
    return { answer, abandon: (reason) => void socket.destroy(reason) };
  }

  /** The lines of an answer as they come, such as server-sent events. Ends with the connection, or when it is left. */
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
    const socket = process.getBuiltinModule("node:net").connect(this.#socketPath);
    const length = body === null ? {} : { "Content-Length": String(Buffer.byteLength(body)) };
    const fields = Object.entries({ Host: "localhost", ...headers, ...length });
    const head = [`${method} ${path} HTTP/1.0`, ...fields.map(([name, value]) => `${name}: ${value}`)];
    // A line break in a value would start another header; names and paths are ours and encoded.
    if (head.some((line) => /[\r\n]/.test(line))) throw new Error("a header may not hold a line break");
    socket.write(head.join("\r\n") + headEnd + (body ?? ""));
    const abort = (): void => void socket.destroy(signal?.reason as Error);
    if (signal?.aborted === true) abort();
    signal?.addEventListener("abort", abort, { once: true });
    return socket;
  }
}

/** The answer, or why it is none. */
export function readAnswer(bytes: Buffer): Answer | string {
  const at = bytes.indexOf(headEnd);
  if (at < 0) return bytes.length === 0 ? "the connection was closed without an answer" : "the answer was cut off";
  const head = bytes.toString("latin1", 0, at);
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1];
  if (status === undefined) return "what answered does not speak HTTP";
  const length = contentLength(head);
  const from = at + headEnd.length;
  if (length !== null && bytes.length < from + length) return "the answer was cut off";
  return { status: Number(status), text: bytes.toString("utf8", from) };
}

/** How many bytes the answer has that starts so, as far as that can be told. */
function lengthOf(start: Buffer): number {
  const at = start.indexOf(headEnd);
  const length = at < 0 ? null : contentLength(start.toString("latin1", 0, at));
  return length === null ? Infinity : at + headEnd.length + length;
}

function contentLength(head: string): number | null {
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  return length === undefined ? null : Number(length);
}
