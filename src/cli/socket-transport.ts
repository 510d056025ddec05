/**
 * HTTP over the daemon's unix socket (fetch cannot do that). One connection a request: a command asks once or twice, and a
 * kept connection would only delay its exit.
 */
import { type IncomingMessage, request as httpRequest } from "node:http";
import type { Transport, TransportRequest } from "../client/client.ts";

export class SocketTransport implements Transport {
  readonly #socketPath: string;

  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  async request(ask: TransportRequest): Promise<{ status: number; text: string }> {
    const response = await this.#open(ask);
    let text = "";
    response.setEncoding("utf8");
    for await (const chunk of response) text += chunk as string;
    return { status: response.statusCode ?? 0, text };
  }

  /** The lines of an answer as they come, such as server-sent events. Ends with the connection. */
  async *lines(path: string, signal: AbortSignal): AsyncGenerator<string> {
    const response = await this.#open({ method: "GET", path, headers: { accept: "text/event-stream" }, body: null, signal });
    response.setEncoding("utf8");
    let held = "";
    for await (const chunk of response) {
      const lines = (held + (chunk as string)).split("\n");
      held = lines.pop() ?? "";
      yield* lines;
    }
  }

  #open({ method, path, headers, body, signal }: TransportRequest): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const length = body === null ? {} : { "content-length": String(Buffer.byteLength(body)) };
      const sent = httpRequest(
        {
          socketPath: this.#socketPath,
          method,
          path,
          headers: { ...headers, ...length },
          agent: false,
          ...(signal === undefined ? {} : { signal }),
        },
        resolve,
      );
      sent.once("error", reject);
      sent.end(body ?? undefined);
    });
  }
}
