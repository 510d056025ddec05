/** Followers of the event stream on a test API, for the tests of frames, of access and of server-sent events. */
import { afterEach, beforeEach, vi } from "vitest";
import { WebSocket, type ClientOptions } from "ws";
import type { Frame } from "../contract/stream.ts";
import { openTestApi, type TestApi } from "./api.fixture.ts";

/** Polls every other millisecond: a test must not wait for its own clock. */
export const often = { interval: 2, timeout: 20_000 };

interface Followed {
  socket: WebSocket;
  frames: Frame[];
  events: () => string[];
}

/** A new API for each test; connections are closed after it. */
export function useStream(): StreamWorld {
  const world = new StreamWorld();
  beforeEach(() => world.reopen());
  afterEach(() => world.close());
  return world;
}

class StreamWorld {
  api!: TestApi;
  readonly opened: { close(): void }[] = [];
  #isOpen = false;

  /** Replaces the API by one with these options. */
  async reopen(options: Parameters<typeof openTestApi>[0] = {}): Promise<void> {
    if (this.#isOpen) await this.api.close();
    this.api = await openTestApi(options);
    this.#isOpen = true;
  }

  async close(): Promise<void> {
    for (const each of this.opened.splice(0)) each.close();
    await this.api.close();
    this.#isOpen = false;
  }

  /** Only for tests of the heartbeat: at this pace a busy machine takes other followers for dead. */
  async beatEvery(heartbeatMs: number): Promise<void> {
    await this.reopen({ heartbeatMs });
  }

  openSocket(query = "", protocols: string[] = [], options: ClientOptions = {}): WebSocket {
    const headers = protocols.length === 0 ? { authorization: `Bearer ${this.api.token}` } : {};
    const address = `ws://127.0.0.1:${this.api.port}/api/stream${query}`;
    const socket = new WebSocket(address, protocols, { headers, ...options });
    this.opened.push({ close: () => socket.terminate() });
    socket.on("error", () => undefined);
    return socket;
  }

  async follow(query = "", protocols: string[] = []): Promise<Followed> {
    const socket = this.openSocket(query, protocols);
    const frames: Frame[] = [];
    socket.on("message", (data: Buffer) => frames.push(JSON.parse(data.toString()) as Frame));
    await vi.waitUntil(() => frames.length > 0, often);
    return { socket, frames, events: () => textsOf(frames) };
  }

  commit(count: number, session = "ma-1"): void {
    for (let n = 0; n < count; n++) this.api.tail.commit(session, String(this.api.tail.cursor + 1));
  }

  /** Waits until the next tick has been sent. */
  async settle(frames: Frame[]): Promise<void> {
    const { reads } = this.api.tail;
    this.commit(1, "other-1");
    await vi.waitUntil(() => this.api.tail.reads > reads, often);
    await vi.waitUntil(() => frames.length > 0, often);
  }
}

export function textsOf(frames: Frame[]): string[] {
  return frames.flatMap((each) =>
    each.frame === "events" ? each.events.map((event) => ("text" in event ? event.text : "")) : [],
  );
}
