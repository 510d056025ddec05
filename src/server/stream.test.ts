import { request as httpRequest } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { WebSocket, type ClientOptions } from "ws";
import { HoldfastError } from "../contract/errors.ts";
import type { Right } from "../contract/rights.ts";
import type { Frame } from "../contract/stream.ts";
import { openTestApi, type TestApi } from "./api.fixture.ts";
import { ask, enrolled, TestDevice } from "./device.fixture.ts";

let it: TestApi;
const opened: { close(): void }[] = [];
beforeEach(async () => {
  it = await openTestApi();
});
afterEach(async () => {
  for (const each of opened.splice(0)) each.close();
  await it.close();
});

/** For tests of the heart alone: at such a pace a busy machine takes others for dead. */
async function beatEvery(heartbeatMs: number): Promise<void> {
  await it.close();
  it = await openTestApi({ heartbeatMs });
}

/** Looks again every other millisecond: a test must not wait for its own clock. */
const often = { interval: 2, timeout: 20_000 };

interface Followed {
  socket: WebSocket;
  frames: Frame[];
  events: () => string[];
}

function openSocket(query = "", protocols: string[] = [], options: ClientOptions = {}): WebSocket {
  const headers = protocols.length === 0 ? { authorization: `Bearer ${it.token}` } : {};
  const address = `ws://127.0.0.1:${it.port}/api/stream${query}`;
  const socket = new WebSocket(address, protocols, { headers, ...options });
  opened.push({ close: () => socket.terminate() });
  socket.on("error", () => undefined);
  return socket;
}

async function follow(query = "", protocols: string[] = []): Promise<Followed> {
  const socket = openSocket(query, protocols);
  const frames: Frame[] = [];
  socket.on("message", (data: Buffer) => frames.push(JSON.parse(data.toString()) as Frame));
  await expect.poll(() => frames.length, often).toBeGreaterThan(0);
  return { socket, frames, events: () => textsOf(frames) };
}

function textsOf(frames: Frame[]): string[] {
  return frames.flatMap((each) =>
    each.frame === "events" ? each.events.map((event) => ("text" in event ? event.text : "")) : [],
  );
}

const commit = (count: number, session = "ma-1"): void => {
  for (let n = 0; n < count; n++) it.tail.commit(session, String(it.tail.cursor + 1));
};

/** Lets whatever is due in the next tick happen. */
const settle = async (frames: Frame[]): Promise<void> => {
  const reads = it.tail.reads;
  commit(1, "other-1");
  await expect.poll(() => it.tail.reads, often).toBeGreaterThan(reads);
  await expect.poll(() => frames.length, often).toBeGreaterThan(0);
};

describe("WebSocket", () => {
  test("[API-29] says hello, then gives a snapshot to whoever has no cursor", async () => {
    commit(3);
    const { frames } = await follow();
    await expect.poll(() => frames.length, often).toBe(2);
    expect(frames).toEqual([
      { frame: "hello", version: "1.2.3", build: "1.2.3+abc", cursor: 3 },
      { frame: "snapshot", cursor: 3, sessions: [] },
    ]);
  });

  test("[API-29] resumes behind the cursor that is asked for", async () => {
    commit(5);
    const { frames, events } = await follow("?after=2");
    await expect.poll(events, often).toEqual(["3", "4", "5"]);
    expect(frames[0]).toMatchObject({ frame: "hello", cursor: 2 });
    expect(frames.some((each) => each.frame === "snapshot")).toBe(false);
  });

  test("[API-29] an unknown cursor gets a snapshot", async () => {
    commit(2);
    const { frames } = await follow("?after=99");
    await expect.poll(() => frames.length, often).toBe(2);
    expect(frames[1]).toMatchObject({ frame: "snapshot", cursor: 2 });
  });

  test("[API-29] a follower of one session gets that one's events only", async () => {
    const { events } = await follow("?after=0&session=ma-2");
    commit(2, "ma-1");
    commit(1, "ma-2");
    await expect.poll(events, often).toEqual(["3"]);
  });

  test("[API-37] 100 commits in a tick are one message, read and written once for all followers", async () => {
    const followers = await Promise.all(Array.from({ length: 10 }, () => follow("?after=0")));
    const reads = it.tail.reads;
    commit(100);
    for (const each of followers) await expect.poll(() => each.events().length, often).toBe(100);
    for (const each of followers) expect(each.frames.map((frame) => frame.frame)).toEqual(["hello", "events"]);
    // One read for the frame, one that finds nothing more; not one for each follower.
    await expect.poll(() => it.tail.reads - reads, often).toBe(2);
  });

  test("[API-37] commits spread over a tick are still at most one message a tick", async () => {
    const { frames, events } = await follow("?after=0");
    const begun = performance.now();
    for (let turn = 0; turn < 200; turn++) {
      commit(1);
      await new Promise((resume) => setImmediate(resume));
    }
    await expect.poll(() => events().length, often).toBe(200);
    const ticks = Math.ceil((performance.now() - begun) / 2) + 1;
    expect(frames.length - 1).toBeLessThanOrEqual(ticks);
    expect(events()).toEqual(Array.from({ length: 200 }, (_, n) => String(n + 1)));
  });

  test("[API-30] more than one page of the log comes page by page, gapless", async () => {
    commit(3500);
    const { events, frames } = await follow("?after=0");
    await expect.poll(() => events().length, often).toBe(3500);
    expect(frames).toHaveLength(5);
    expect(events().at(-1)).toBe("3500");
  });

  test("[API-31] a follower that takes nothing holds bounded memory, and catches up by cursor", async () => {
    const { socket, events } = await follow("?after=0");
    const other = await follow("?after=0");
    socket.pause();
    const large = "x".repeat(1024 * 1024);
    for (let n = 1; n <= 30; n++) {
      it.tail.commit("ma-1", large);
      await expect.poll(() => other.events().length, often).toBe(n);
    }
    // Above: the kernel's own buffers took some of the 30 MiB; at most 8 MiB and one message wait here.
    expect(unsentBytes()).toBeGreaterThan(4 * 1024 * 1024);
    expect(unsentBytes()).toBeLessThan(10 * 1024 * 1024);
    socket.resume();
    await expect.poll(() => events().length, often).toBe(30);
    expect(unsentBytes()).toBe(0);
  });

  test("[API-32] an answer to a client's ping shows that the line lives", async () => {
    const { socket, frames } = await follow("?after=0");
    commit(2);
    await expect.poll(() => frames.length, often).toBe(2);
    socket.send("ping");
    await expect.poll(() => frames.length, often).toBe(3);
    expect(frames[2]).toMatchObject({ frame: "hello", cursor: 2 });
  });

  test("[API-32] a follower that answers nothing is let go after three beats", async () => {
    await beatEvery(20);
    const headers = { authorization: `Bearer ${it.token}` };
    const socket = openSocket("", [], { headers, autoPong: false });
    const closed = new Promise((resolve) => socket.on("close", resolve));
    expect(await closed).toBe(1006);
    expect(it.tail.listeners).toBe(0);
  });

  test("[API-32] one that answers stays, however long it is quiet", async () => {
    await beatEvery(100);
    const { socket } = await follow();
    let pings = 0;
    socket.on("ping", () => pings++);
    await expect.poll(() => pings, often).toBeGreaterThan(5);
    expect(socket.readyState).toBe(WebSocket.OPEN);
  });

  test("[API-33] nobody listens to the log while nobody follows", async () => {
    expect(it.tail.listeners).toBe(0);
    const { socket } = await follow();
    expect(it.tail.listeners).toBe(1);
    socket.close();
    await expect.poll(() => it.tail.listeners, often).toBe(0);
  });

  test("[API-34] a browser gives its token as a subprotocol, which is not sent back", async () => {
    const { socket, frames } = await follow("", ["holdfast.v1", `holdfast.token.${it.token}`]);
    expect(socket.protocol).toBe("holdfast.v1");
    await settle(frames);
  });

  test("[API-34] compression is off", async () => {
    const { socket } = await follow();
    expect(socket.extensions).toBe("");
  });

  const refusals: [string, () => WebSocket, number, string][] = [
    ["no token", () => openSocket("", ["holdfast.v1"]), 401, "Authentication required."],
    ["a wrong token", () => openSocket("", ["holdfast.v1", "holdfast.token.x"]), 401, "The token is not valid."],
    [
      "another site's Origin",
      () => openSocket("", [], { origin: "http://evil.example", headers: { authorization: `Bearer ${it.token}` } }),
      403,
      'Requests from this Origin are refused: "http://evil.example".',
    ],
    [
      "another local port's Origin",
      () => openSocket("", [], { origin: "http://localhost:3000", headers: { authorization: `Bearer ${it.token}` } }),
      403,
      'Requests from this Origin are refused: "http://localhost:3000".',
    ],
    [
      "a foreign Host",
      () => openSocket("", [], { headers: { host: "evil.example", authorization: `Bearer ${it.token}` } }),
      421,
      'Host not allowed: "evil.example".',
    ],
    ["a broken cursor", () => openSocket("?after=x"), 400, '`after` must be a cursor (an integer), not "x".'],
  ];
  test.each(refusals)("[API-21] an upgrade with %s is refused", async (_, open, status, message) => {
    const socket = open();
    const answer = await new Promise<{ status: number; text: string }>((resolve, reject) => {
      socket.on("open", () => reject(new Error("was let in")));
      socket.on("unexpected-response", (_request, response) => {
        let text = "";
        response.on("data", (part: Buffer) => (text += part.toString()));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      });
    });
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.text)).toMatchObject({ error: { message } });
  });

  test("[API-34] only /api/stream becomes a WebSocket, and it is nothing else", async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${it.port}/api/info`, {
      headers: { authorization: `Bearer ${it.token}` },
    });
    const status = await new Promise((resolve) =>
      socket.on("unexpected-response", (_, response) => resolve(response.resume().statusCode)),
    );
    expect(status).toBe(400);
    const plain = await it.tcp("GET", "/api/stream");
    expect(plain.json.error?.message).toBe("This address requires a WebSocket.");
  });

  test("[SESSION-55] streams and the login link ask the guard who may use them, by either way in", async () => {
    await it.close();
    const guarded: string[] = [];
    it = await openTestApi({
      authorize: ({ name, actor, query }) => {
        guarded.push(`${name} ${actor} ${("session" in query && query.session) || ""}`);
        throw new HoldfastError("forbidden", "not you");
      },
    });
    const headers = { "holdfast-actor": "session:ma-2" };
    const socket = new WebSocket(`ws+unix:${it.socket}:/api/stream?session=ma-1`, { headers });
    const said = await new Promise<string>((resolve) => socket.on("error", (error) => resolve(error.message)));
    expect(said).toBe("Unexpected server response: 403");
    expect((await it.unix("GET", "/api/events?session=ma-1", { headers })).status).toBe(403);
    expect((await it.unix("POST", "/api/login-link", { headers, json: {} })).status).toBe(403);
    expect(guarded).toEqual(["stream session:ma-2 ma-1", "sse session:ma-2 ma-1", "loginLink session:ma-2 "]);
  });

  test("[API-26, DEVICE-10] logging out, a revocation and other rights end the streams of that device", async () => {
    const open = async (rights?: Right) => {
      const device = await enrolled(it.access, it.url, rights);
      const followed = await follow("", ["holdfast.v1", device.protocol("/api/stream")]);
      const closed = new Promise((resolve) => followed.socket.on("close", resolve));
      return { device, closed, ...followed };
    };
    const [one, two, three, stays] = [await open(), await open(), await open("watch"), await open()];
    expect(three.frames[0]).toMatchObject({ device: { id: three.device.id, rights: "watch" } });
    expect((await ask(it, one.device, "POST", "/api/logout", {})).json).toEqual({ revoked: 1 });
    expect(await one.closed).toBe(1008);
    expect((await ask(it, stays.device, "DELETE", `/api/devices/${two.device.id}`)).status).toBe(200);
    expect(await two.closed).toBe(1008);
    await ask(it, stays.device, "POST", `/api/devices/${three.device.id}`, { rights: "answer" });
    expect(await three.closed).toBe(1008);
    expect(stays.socket.readyState).toBe(WebSocket.OPEN);
    expect((await ask(it, one.device, "GET", "/api/info")).json.error?.code).toBe("logged-out");
    // All of them, and nothing else.
    const main = await follow("");
    expect((await it.tcp("POST", "/api/logout", { json: { all: true } })).json).toEqual({ revoked: 2 });
    expect(await stays.closed).toBe(1008);
    expect(main.socket.readyState).toBe(WebSocket.OPEN);
  });

  test("[DEVICE-10] a page that is open and says no more than ping keeps its device in use", async () => {
    const device = await enrolled(it.access, it.url);
    const { socket, frames } = await follow("", ["holdfast.v1", device.protocol("/api/stream")]);
    it.now.value += 29 * 24 * 3_600_000;
    const before = frames.length;
    socket.send("ping");
    await expect.poll(() => frames.length, often).toBeGreaterThan(before);
    it.now.value += 29 * 24 * 3_600_000;
    expect(it.access.devices.get(device.id)).not.toBeNull();
  });

  test("[DEVICE-13] a replaced main token closes what was opened with it, and no device", async () => {
    const device = await enrolled(it.access, it.url);
    const browser = await follow("", ["holdfast.v1", device.protocol("/api/stream")]);
    const script = await follow("");
    const closed = new Promise((resolve) => script.socket.on("close", resolve));
    expect((await it.tcp("POST", "/api/token/rotate", { json: {} })).status).toBe(404);
    expect((await it.unix("POST", "/api/token/rotate", { json: {} })).status).toBe(200);
    expect(await closed).toBe(1008);
    expect((await it.tcp("GET", "/api/info")).status).toBe(401);
    expect(browser.socket.readyState).toBe(WebSocket.OPEN);
  });

  test("[DEVICE-11] a new device is announced to the others, and its own pages are not told", async () => {
    await it.close();
    const announced: string[] = [];
    it = await openTestApi({ onNewDevice: ({ name }) => announced.push(name) });
    const login = async (device: TestDevice) => {
      const link = await it.unix("POST", "/api/login-link", { json: { name: `D ${device.id}` } });
      device.nonce = it.access.challenge().nonce;
      const json = device.byCode(String(link.json["url"]).split("#login=")[1]!, device.nonce);
      return it.tcp("POST", "/api/login", { json, headers: { authorization: undefined, origin: it.url } });
    };
    const [first, second] = [new TestDevice(it.url), new TestDevice(it.url)];
    expect((await login(first)).json).toMatchObject({ device: { id: first.id, isYou: true } });
    // Nobody was there to be told.
    expect(announced).toEqual([]);
    const page = await follow("", ["holdfast.v1", first.protocol("/api/stream")]);
    await login(second);
    await expect.poll(() => page.frames.at(-1), often).toMatchObject({ frame: "devices", added: { id: second.id } });
    expect(announced).toEqual([`D ${second.id}`]);
    // The same browser again is no new device.
    await login(second);
    await expect.poll(() => page.frames.at(-1), often).toEqual({ frame: "devices", cursor: 0, added: null });
    expect(announced).toHaveLength(1);
  });
});

describe("server-sent events", () => {
  interface Lines {
    text: string;
    type: string | undefined;
  }
  async function listen(path: string, headers: Record<string, string> = {}): Promise<Lines> {
    const lines: Lines = { text: "", type: undefined };
    const all = { authorization: `Bearer ${it.token}`, ...headers };
    const request = httpRequest({ host: "127.0.0.1", port: it.port, path, headers: all, agent: false }, (response) => {
      lines.type = response.headers["content-type"];
      response.on("data", (part: Buffer) => (lines.text += part.toString()));
      response.on("error", () => undefined);
    });
    request.on("error", () => undefined);
    opened.push({ close: () => request.destroy() });
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
    await beatEvery(20);
    commit(1);
    const lines = await listen("/api/events");
    commit(2);
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
    commit(5);
    const lines = await listen("/api/events?after=1", { "last-event-id": "3" });
    await expect.poll(() => parsed(lines).length, often).toBe(2);
    expect(textsOf(parsed(lines).map((each) => each.frame))).toEqual(["4", "5"]);
    const byAddress = await listen("/api/events?after=4");
    await expect.poll(() => textsOf(parsed(byAddress).map((each) => each.frame)), often).toEqual(["5"]);
  });

  test("[API-31] a reader that takes nothing holds bounded memory", async () => {
    const socket = connect(it.port, "127.0.0.1");
    opened.push({ close: () => socket.destroy() });
    const host = `Host: 127.0.0.1:${it.port}\r\nAuthorization: Bearer ${it.token}`;
    socket.write(`GET /api/events?after=0 HTTP/1.1\r\n${host}\r\n\r\n`);
    await expect.poll(() => it.tail.listeners, often).toBe(1);
    const other = await follow("?after=0");
    const large = "x".repeat(1024 * 1024);
    for (let n = 1; n <= 30; n++) {
      it.tail.commit("ma-1", large);
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
