/** An external server that receives notifications. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export class Listener implements AsyncDisposable {
  readonly told: { id: string; title: string; text: string; session: string; why: string }[] = [];
  readonly #server: Server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (part: string) => void (text += part));
    request.on("end", () => {
      this.told.push(JSON.parse(text) as (typeof this.told)[number]);
      response.end("ok");
    });
  });

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}
