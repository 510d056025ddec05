import { describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { HoldfastError } from "../contract/errors.ts";
import type { Right } from "../contract/rights.ts";
import { ask, enrolled, TestDevice } from "./device.fixture.ts";
import { often, useStream } from "./stream.fixture.ts";

const stream = useStream();

describe("access to the stream", () => {
  test("[API-34] a browser gives its token as a subprotocol, which is not sent back", async () => {
    const { socket, frames } = await stream.follow("", ["holdfast.v1", `holdfast.token.${stream.api.token}`]);
    expect(socket.protocol).toBe("holdfast.v1");
    await stream.settle(frames);
  });

  test("[API-34] compression is off", async () => {
    const { socket } = await stream.follow();
    expect(socket.extensions).toBe("");
  });

  const fromSite = (origin: string): WebSocket =>
    stream.openSocket("", [], { origin, headers: { authorization: `Bearer ${stream.api.token}` } });
  const refusals: [string, () => WebSocket, number, string][] = [
    ["no token", () => stream.openSocket("", ["holdfast.v1"]), 401, "Authentication required."],
    ["a wrong token", () => stream.openSocket("", ["holdfast.v1", "holdfast.token.x"]), 401, "The token is not valid."],
    [
      "another site's Origin",
      () => fromSite("http://evil.example"),
      403,
      'Requests from this Origin are refused: "http://evil.example".',
    ],
    [
      "another local port's Origin",
      () => fromSite("http://localhost:3000"),
      403,
      'Requests from this Origin are refused: "http://localhost:3000".',
    ],
    [
      "a foreign Host",
      () =>
        stream.openSocket("", [], { headers: { host: "evil.example", authorization: `Bearer ${stream.api.token}` } }),
      421,
      'Host not allowed: "evil.example".',
    ],
    ["a broken cursor", () => stream.openSocket("?after=x"), 400, '`after` must be a cursor (an integer), not "x".'],
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

  test("[API-34] only /api/stream becomes a WebSocket, and nothing else is served there", async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${stream.api.port}/api/info`, {
      headers: { authorization: `Bearer ${stream.api.token}` },
    });
    const status = await new Promise((resolve) =>
      socket.on("unexpected-response", (_, response) => resolve(response.resume().statusCode)),
    );
    expect(status).toBe(400);
    const plain = await stream.api.tcp("GET", "/api/stream");
    expect(plain.json.error?.message).toBe("This address requires a WebSocket.");
  });

  test("[SESSION-55] streams and the login link are authorized on the socket and over TCP", async () => {
    const guarded: string[] = [];
    await stream.reopen({
      authorize: ({ name, actor, query }) => {
        guarded.push(`${name} ${actor} ${("session" in query && query.session) || ""}`);
        throw new HoldfastError("forbidden", "not you");
      },
    });
    const headers = { "holdfast-actor": "session:ma-2" };
    const socket = new WebSocket(`ws+unix:${stream.api.socket}:/api/stream?session=ma-1`, { headers });
    const said = await new Promise<string>((resolve) => socket.on("error", (error) => resolve(error.message)));
    expect(said).toBe("Unexpected server response: 403");
    expect((await stream.api.unix("GET", "/api/events?session=ma-1", { headers })).status).toBe(403);
    expect((await stream.api.unix("POST", "/api/login-link", { headers, json: {} })).status).toBe(403);
    expect(guarded).toEqual(["stream session:ma-2 ma-1", "sse session:ma-2 ma-1", "loginLink session:ma-2 "]);
  });

  test("[API-26, DEVICE-10] logging out, a revocation and other rights end the streams of that device", async () => {
    const open = async (rights?: Right) => {
      const device = await enrolled(stream.api.access, stream.api.url, rights);
      const followed = await stream.follow("", ["holdfast.v1", device.protocol("/api/stream")]);
      const closed = new Promise((resolve) => followed.socket.on("close", resolve));
      return { device, closed, ...followed };
    };
    const [one, two, three, stays] = [await open(), await open(), await open("watch"), await open()];
    expect(three.frames[0]).toMatchObject({ device: { id: three.device.id, rights: "watch" } });
    expect((await ask(stream.api, one.device, "POST", "/api/logout", {})).json).toEqual({ revoked: 1 });
    expect(await one.closed).toBe(1008);
    expect((await ask(stream.api, stays.device, "DELETE", `/api/devices/${two.device.id}`)).status).toBe(200);
    expect(await two.closed).toBe(1008);
    await ask(stream.api, stays.device, "POST", `/api/devices/${three.device.id}`, { rights: "answer" });
    expect(await three.closed).toBe(1008);
    expect(stays.socket.readyState).toBe(WebSocket.OPEN);
    expect((await ask(stream.api, one.device, "GET", "/api/info")).json.error?.code).toBe("logged-out");
    // All of them, and nothing else.
    const main = await stream.follow("");
    expect((await stream.api.tcp("POST", "/api/logout", { json: { all: true } })).json).toEqual({ revoked: 2 });
    expect(await stays.closed).toBe(1008);
    expect(main.socket.readyState).toBe(WebSocket.OPEN);
  });

  test("[DEVICE-10] an open page that only pings keeps its device in use", async () => {
    const device = await enrolled(stream.api.access, stream.api.url);
    const { socket, frames } = await stream.follow("", ["holdfast.v1", device.protocol("/api/stream")]);
    stream.api.now.value += 29 * 24 * 3_600_000;
    const before = frames.length;
    socket.send("ping");
    await expect.poll(() => frames.length, often).toBeGreaterThan(before);
    stream.api.now.value += 29 * 24 * 3_600_000;
    expect(stream.api.access.devices.get(device.id)).not.toBeNull();
  });

  test("[DEVICE-13] a replaced main token closes what was opened with it, and no device", async () => {
    const device = await enrolled(stream.api.access, stream.api.url);
    const browser = await stream.follow("", ["holdfast.v1", device.protocol("/api/stream")]);
    const script = await stream.follow("");
    const closed = new Promise((resolve) => script.socket.on("close", resolve));
    expect((await stream.api.tcp("POST", "/api/token/rotate", { json: {} })).status).toBe(404);
    expect((await stream.api.unix("POST", "/api/token/rotate", { json: {} })).status).toBe(200);
    expect(await closed).toBe(1008);
    expect((await stream.api.tcp("GET", "/api/info")).status).toBe(401);
    expect(browser.socket.readyState).toBe(WebSocket.OPEN);
  });

  test("[DEVICE-11] a new device is announced to the others, not to its own pages", async () => {
    const announced: string[] = [];
    await stream.reopen({ onNewDevice: ({ name }) => announced.push(name) });
    const login = async (device: TestDevice) => {
      const link = await stream.api.unix("POST", "/api/login-link", { json: { name: `D ${device.id}` } });
      device.nonce = stream.api.access.challenge().nonce;
      const json = device.byCode(String(link.json["url"]).split("#login=")[1]!, device.nonce);
      return stream.api.tcp("POST", "/api/login", {
        json,
        headers: { authorization: undefined, origin: stream.api.url },
      });
    };
    const [first, second] = [new TestDevice(stream.api.url), new TestDevice(stream.api.url)];
    expect((await login(first)).json).toMatchObject({ device: { id: first.id, isYou: true } });
    // No client was connected to receive it.
    expect(announced).toEqual([]);
    const page = await stream.follow("", ["holdfast.v1", first.protocol("/api/stream")]);
    await login(second);
    await expect.poll(() => page.frames.at(-1), often).toMatchObject({ frame: "devices", added: { id: second.id } });
    expect(announced).toEqual([`D ${second.id}`]);
    // The same browser again is no new device.
    await login(second);
    await expect.poll(() => page.frames.at(-1), often).toEqual({ frame: "devices", cursor: 0, added: null });
    expect(announced).toHaveLength(1);
  });
});
