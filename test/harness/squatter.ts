/**
 * A program that takes the daemon's port while the daemon is down. It stores every byte that browsers send, imitates
 * the daemon as well as it can, and can forward everything to the real daemon on another port.
 */
import { createServer, request as httpRequest, type IncomingHttpHeaders, type Server } from "node:http";

export interface Recorded {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** `relayed`: the real daemon's response to the same bytes, live. */
export interface Seen extends Recorded {
  relayed: number | null;
}

export class Squatter implements AsyncDisposable {
  readonly seen: Seen[] = [];
  /** Port of the real daemon. */
  relayTo: number | null = null;
  readonly #server: Server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (part: string) => void (body += part));
    request.on("end", () => {
      void this.#answer({ method: request.method ?? "", url: request.url ?? "", headers: request.headers, body }).then(
        ({ status, text, headers }) => response.writeHead(status, headers).end(text),
      );
    });
  });

  static async on(port: number): Promise<Squatter> {
    const made = new Squatter();
    made.#server.on("upgrade", (request, socket) => {
      socket.on("error", () => undefined);
      const recorded = { method: "GET", url: request.url ?? "", headers: request.headers, body: "" };
      void made.#answer(recorded).finally(() => socket.destroy());
    });
    await new Promise<void>((resolve, reject) => {
      made.#server.once("error", reject).listen(port, "127.0.0.1", resolve);
    });
    return made;
  }

  signed(): Seen[] {
    return this.seen.filter(({ headers }) => proofsIn(headers));
  }

  async #answer(recorded: Recorded): Promise<{ status: number; text: string; headers: Record<string, string> }> {
    const json = { "content-type": "application/json" };
    if (this.relayTo !== null) {
      const answer = await replay(recorded, this.relayTo).catch(() => null);
      this.seen.push({ ...recorded, relayed: answer?.status ?? null });
      if (answer !== null) return { ...answer, headers: { ...json, ...answer.headers } };
    } else this.seen.push({ ...recorded, relayed: null });
    // Its own challenge: the browser might sign it.
    const challenge = { nonce: "x".repeat(43), lifeMs: 600_000, passphrase: { salt: "AAAA", iterations: 1 } };
    return { status: 200, text: recorded.url === "/api/challenge" ? JSON.stringify(challenge) : "{}", headers: json };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

function proofsIn(headers: IncomingHttpHeaders): boolean {
  const protocol = headers["sec-websocket-protocol"] ?? "";
  return headers.authorization !== undefined || protocol.includes("holdfast.device.");
}

/** Sends the same to the daemon, as if from its own page. */
export function replay(
  { method, url, headers, body }: Recorded,
  port: number,
): Promise<{ status: number; text: string; headers: Record<string, string> }> {
  const own = `127.0.0.1:${port}`;
  const sent = { ...headers, host: own, ...(headers.origin === undefined ? {} : { origin: `http://${own}` }) };
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: "127.0.0.1", port, method, path: url, headers: sent, agent: false });
    request.on("error", reject);
    request.on("upgrade", (_response, socket) => {
      socket.destroy();
      resolve({ status: 101, text: "", headers: {} });
    });
    request.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => void (text += part));
      const challenge = response.headers["holdfast-challenge"];
      const renewed: Record<string, string> = typeof challenge === "string" ? { "holdfast-challenge": challenge } : {};
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text, headers: renewed }));
      response.on("error", reject);
    });
    request.end(body);
  });
}
