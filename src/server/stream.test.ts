import { request as httpRequest } from "node:http";
import { connect, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import type { Frame } from "../contract/stream.ts";
import { often, textsOf, useStream } from "./stream.fixture.ts";

const stream = useStream();

describe("WebSocket", () => {
  test("[API-29] a follower without a cursor gets a hello, then a snapshot", async () => {
    stream.commit(3);
    const { frames } = await stream.follow();
    await expect.poll(() => frames.length, often).toBe(2);
    expect(frames).toEqual([
      { frame: "hello", version: "1.2.3", build: "1.2.3+abc", cursor: 3 },
      { frame: "snapshot", cursor: 3, sessions: [] },
    ]);
  });

  test("[API-29] a stream resumes after the given cursor", async () => {
    stream.commit(5);
    const { frames, events } = await stream.follow("?after=2");
    await expect.poll(events, often).toEqual(["3", "4", "5"]);
    expect(frames[0]).toMatchObject({ frame: "hello", cursor: 2 });
    expect(frames.some((each) => each.frame === "snapshot")).toBe(false);
  });

  test("[API-29] an unknown cursor gets a snapshot", async () => {
    stream.commit(2);
    const { frames } = await stream.follow("?after=99");
    await expect.poll(() => frames.length, often).toBe(2);
    expect(frames[1]).toMatchObject({ frame: "snapshot", cursor: 2 });
  });

  test("[API-29] a follower of one session gets that one's events only", async () => {
    const { events } = await stream.follow("?after=0&session=ma-2");
    stream.commit(2, "ma-1");
    stream.commit(1, "ma-2");
    await expect.poll(events, often).toEqual(["3"]);
  });

  test("[API-37] 100 commits in a tick are one message, read and written once for all followers", async () => {
    const followers = await Promise.all(Array.from({ length: 10 }, () => stream.follow("?after=0")));
    const reads = stream.api.tail.reads;
    stream.commit(100);
    for (const each of followers) await expect.poll(() => each.events().length, often).toBe(100);
    for (const each of followers) expect(each.frames.map((frame) => frame.frame)).toEqual(["hello", "events"]);
    // One read for the frame, one that finds nothing more; not one for each follower.
    await expect.poll(() => stream.api.tail.reads - reads, often).toBe(2);
  });

  test("[API-37] commits spread over a tick are still at most one message a tick", async () => {
    const { frames, events } = await stream.follow("?after=0");
    const begun = performance.now();
    for (let turn = 0; turn < 200; turn++) {
      stream.commit(1);
      await new Promise((resume) => setImmediate(resume));
    }
    await expect.poll(() => events().length, often).toBe(200);
    const ticks = Math.ceil((performance.now() - begun) / 2) + 1;
    expect(frames.length - 1).toBeLessThanOrEqual(ticks);
    expect(events()).toEqual(Array.from({ length: 200 }, (_, n) => String(n + 1)));
  });

  test("[API-30] more than one page of the log comes page by page, gapless", async () => {
    stream.commit(3500);
    const { events, frames } = await stream.follow("?after=0");
    await expect.poll(() => events().length, often).toBe(3500);
    expect(frames).toHaveLength(5);
    expect(events().at(-1)).toBe("3500");
  });

  test("[API-31] a follower that reads nothing uses bounded memory and catches up by cursor", async () => {
    const { socket, events } = await stream.follow("?after=0");
    const other = await stream.follow("?after=0");
    socket.pause();
    const large = "x".repeat(1024 * 1024);
    for (let n = 1; n <= 30; n++) {
      stream.api.tail.commit("ma-1", large);
      await expect.poll(() => other.events().length, often).toBe(n);
    }
    // Above: the kernel's own buffers took some of the 30 MiB; at most 8 MiB and one message wait here.
    expect(unsentBytes()).toBeGreaterThan(4 * 1024 * 1024);
    expect(unsentBytes()).toBeLessThan(10 * 1024 * 1024);
    socket.resume();
    await expect.poll(() => events().length, often).toBe(30);
    expect(unsentBytes()).toBe(0);
  });

  test("[API-32] a client's ping is answered", async () => {
    const { socket, frames } = await stream.follow("?after=0");
    stream.commit(2);
    await expect.poll(() => frames.length, often).toBe(2);
    socket.send("ping");
    await expect.poll(() => frames.length, often).toBe(3);
    expect(frames[2]).toMatchObject({ frame: "hello", cursor: 2 });
  });

  test("[API-32] a follower that does not answer is disconnected after three heartbeats", async () => {
    await stream.beatEvery(20);
    const headers = { authorization: `Bearer ${stream.api.token}` };
    const socket = stream.openSocket("", [], { headers, autoPong: false });
    const closed = new Promise((resolve) => socket.on("close", resolve));
    expect(await closed).toBe(1006);
    expect(stream.api.tail.listeners).toBe(0);
  });

  test("[API-32] a follower that answers stays, even if it sends nothing else", async () => {
    await stream.beatEvery(100);
    const { socket } = await stream.follow();
    let pings = 0;
    socket.on("ping", () => pings++);
    await expect.poll(() => pings, often).toBeGreaterThan(5);
    expect(socket.readyState).toBe(WebSocket.OPEN);
  });

  test("[API-33] without followers the log has no listener", async () => {
    expect(stream.api.tail.listeners).toBe(0);
    const { socket } = await stream.follow();
    expect(stream.api.tail.listeners).toBe(1);
    socket.close();
    await expect.poll(() => stream.api.tail.listeners, often).toBe(0);
  });
});

describe("server-sent events", () => {
  interface Lines {
    text: string;
    type: string | undefined;
  }
  async function listen(path: string, headers: Record<string, string> = {}): Promise<Lines> {
    const lines: Lines = { text: "", type: undefined };
    const all = { authorization: `Bearer ${stream.api.token}`, ...headers };
    const request = httpRequest(
      { host: "127.0.0.1", port: stream.api.port, path, headers: all, agent: false },
      (response) => {
        lines.type = response.headers["content-type"];
        response.on("data", (part: Buffer) => (lines.text += part.toString()));
        response.on("error", () => undefined);
      },
    );
    request.on("error", () => undefined);
    stream.opened.push({ close: () => request.destroy() });
    request.end();
    await expect.poll(() => lines.text, often).toContain("hello");
    return lines;
  }
  const parsed = (lines: Lines): { id: string | null; frame: Frame }[] =>
    lines.text.split("\n\n").flatMap((block) => {
      const data = /^data: (.*)$/m.exec(block)?.[1];
      return data === undefined
        ? []
        : [{ id: /^id: (.*)$/m.exec(block)?.[1] ?? null, frame: JSON.parse(data) as Frame }];
    });

  test("[API-35] the same frames come as events, their cursor as id, kept warm by comments", async () => {
    await stream.beatEvery(20);
    stream.commit(1);
    const lines = await listen("/api/events");
    stream.commit(2);
    await expect.poll(() => parsed(lines).length, often).toBe(3);
    expect(lines.type).toBe("text/event-stream; charset=utf-8");
    expect(parsed(lines).map((each) => [each.id, each.frame.frame])).toEqual([
      [null, "hello"],
      ["1", "snapshot"],
      ["3", "events"],
    ]);
    await expect.poll(() => lines.text, often).toContain("\n\n:\n\n");
  });

  test("[API-35] Last-Event-ID resumes, and wins over the address", async () => {
    stream.commit(5);
    const lines = await listen("/api/events?after=1", { "last-event-id": "3" });
    await expect.poll(() => parsed(lines).length, often).toBe(2);
    expect(textsOf(parsed(lines).map((each) => each.frame))).toEqual(["4", "5"]);
    const byAddress = await listen("/api/events?after=4");
    await expect.poll(() => textsOf(parsed(byAddress).map((each) => each.frame)), often).toEqual(["5"]);
  });

  test("[API-31] a reader that reads nothing uses bounded memory", async () => {
    const socket = connect(stream.api.port, "127.0.0.1");
    stream.opened.push({ close: () => socket.destroy() });
    const host = `Host: 127.0.0.1:${stream.api.port}\r\nAuthorization: Bearer ${stream.api.token}`;
    socket.write(`GET /api/events?after=0 HTTP/1.1\r\n${host}\r\n\r\n`);
    await expect.poll(() => stream.api.tail.listeners, often).toBe(1);
    const other = await stream.follow("?after=0");
    const large = "x".repeat(1024 * 1024);
    for (let n = 1; n <= 30; n++) {
      stream.api.tail.commit("ma-1", large);
      await expect.poll(() => other.events().length, often).toBe(n);
    }
    expect(unsentBytes()).toBeGreaterThan(4 * 1024 * 1024);
    expect(unsentBytes()).toBeLessThan(10 * 1024 * 1024);
  });
});

/** Bytes that this process holds unsent: both ends of each connection live here, and the clients send nothing. */
function unsentBytes(): number {
  const handles = (Reflect.get(process, "_getActiveHandles") as () => unknown[])();
  const sockets = handles.filter((each): each is Socket => typeof (each as Socket).writableLength === "number");
  return sockets.reduce((sum, socket) => sum + socket.writableLength, 0);
}
