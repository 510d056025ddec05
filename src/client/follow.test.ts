import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import type { Frame } from "../contract/stream.ts";
import { follow, type FollowOptions, type Following, type FollowState } from "./follow.ts";

let server: WebSocketServer;
let port: number;
/** False: whoever comes is turned away. The port stays ours, or somebody else might get it meanwhile. */
let open: boolean;
let connections: { socket: WebSocket; url: string; protocols: string; pings: number }[];
let frames: Frame[];
let states: FollowState[];
const following: Following[] = [];
/** Looks again every other millisecond: a test must not wait for its own clock. */
const often = { interval: 2, timeout: 20_000 };

beforeEach(async () => {
  connections = [];
  frames = [];
  states = [];
  open = true;
  server = new WebSocketServer({
    host: "127.0.0.1",
    port: 0,
    handleProtocols: () => "holdfast.v1",
    verifyClient: () => open,
  });
  server.on("connection", (socket, request) => {
    const protocols = request.headers["sec-websocket-protocol"] ?? "";
    const connection = { socket, url: request.url ?? "", protocols, pings: 0 };
    socket.on("message", () => connection.pings++);
    connections.push(connection);
  });
  await new Promise((done) => server.once("listening", done));
  port = (server.address() as AddressInfo).port;
});
afterEach(async () => {
  for (const each of following.splice(0)) each.close();
  for (const { socket } of connections) socket.terminate();
  await new Promise((done) => server.close(done));
});

function start(options: Partial<FollowOptions> = {}): Following {
  const made = follow({
    url: `ws://127.0.0.1:${port}`,
    socket: WebSocket,
    onFrame: (frame) => frames.push(frame),
    onState: (state) => states.push(state),
    random: () => 1,
    timing: { firstDelayMs: 4, longestDelayMs: 30 },
    ...options,
  });
  following.push(made);
  return made;
}

async function connection(count: number): Promise<WebSocket> {
  await expect.poll(() => connections.length, often).toBe(count);
  const last = connections[count - 1];
  if (last === undefined) throw new Error("no connection");
  return last.socket;
}

const say = (socket: WebSocket, frame: Frame): void => socket.send(JSON.stringify(frame));
const hello = (cursor: number): Frame => ({ frame: "hello", version: "1", build: "1", cursor });
const events = (cursor: number): Frame => ({ frame: "events", cursor, events: [], sessions: [] });

test("[API-40] the proof goes as a subprotocol, made for the address, never in it", async () => {
  const proved: string[] = [];
  const prove = async (path: string): Promise<string> => {
    proved.push(path);
    // Nobody answers the first time: it is tried again as when a connection is lost.
    if (proved.length === 1) throw new Error("no challenge");
    return "proof";
  };
  start({ prove, session: "ma-1", after: 7 });
  await connection(1);
  expect(connections[0]).toMatchObject({
    url: "/api/stream?after=7&session=ma-1",
    protocols: "holdfast.v1,proof",
  });
  expect(proved).toEqual(["/api/stream?after=7&session=ma-1", "/api/stream?after=7&session=ma-1"]);
  expect(states.map(({ state }) => state)).toEqual(["connecting", "waiting", "connecting"]);
});

test("[API-41] a lost connection is taken up again behind the last frame", async () => {
  const made = start();
  const first = await connection(1);
  expect(connections[0]?.url).toBe("/api/stream");
  say(first, hello(5));
  say(first, { frame: "snapshot", cursor: 5, sessions: [] });
  say(first, events(9));
  await expect.poll(() => frames.length, often).toBe(3);
  expect(made.cursor()).toBe(9);
  first.terminate();
  await connection(2);
  expect(connections[1]?.url).toBe("/api/stream?after=9");
  expect(states.map((each) => each.state)).toEqual(["connecting", "open", "waiting", "connecting"]);
});

test("[API-41] whoever is cut off behind hello asks for the snapshot again", async () => {
  start();
  const first = await connection(1);
  say(first, hello(5));
  await expect.poll(() => frames.length, often).toBe(1);
  first.terminate();
  await connection(2);
  expect(connections[1]?.url).toBe("/api/stream");
});

test("[API-41] attempts come slower and slower, and fast again after a frame", async () => {
  open = false;
  start();
  await expect.poll(() => states.filter((each) => each.state === "waiting").length, often).toBeGreaterThanOrEqual(5);
  const delays = states.flatMap((each) => (each.state === "waiting" ? [each.delayMs] : []));
  expect(delays.slice(0, 5)).toEqual([4, 8, 16, 30, 30]);
  open = true;
  const socket = await connection(1);
  say(socket, hello(0));
  await expect.poll(() => frames.length, often).toBe(1);
  states = [];
  socket.terminate();
  await expect.poll(() => states.find((each) => each.state === "waiting"), often).toMatchObject({ delayMs: 4 });
});

test("[API-41] wake tries at once", async () => {
  open = false;
  const made = start({ timing: { firstDelayMs: 60_000, longestDelayMs: 60_000 } });
  await expect.poll(() => states.at(-1)?.state, often).toBe("waiting");
  open = true;
  made.wake();
  await connection(1);
});

test("[API-42] a line that died in silence is noticed and replaced", async () => {
  start({ timing: { firstDelayMs: 4, pingMs: 10, pongMs: 20 } });
  const first = await connection(1);
  say(first, hello(1));
  await expect.poll(() => connections[0]?.pings, often).toBe(1);
  await connection(2);
});

test("[API-42] a quiet line that answers is kept", async () => {
  start({ timing: { firstDelayMs: 4, pingMs: 5, pongMs: 30_000 } });
  const first = await connection(1);
  first.on("message", () => say(first, hello(1)));
  say(first, hello(1));
  await expect.poll(() => connections[0]?.pings, often).toBeGreaterThan(5);
  expect(connections).toHaveLength(1);
});

test("[API-42] one that is let in but never greeted is given up", async () => {
  start({ timing: { firstDelayMs: 4, helloMs: 10 } });
  await expect.poll(() => connections.length, often).toBe(2);
  expect(frames).toEqual([]);
});

test("[API-41] closed means closed, also while it connects", async () => {
  const made = start();
  made.close();
  made.wake();
  expect(states.map((each) => each.state)).toEqual(["connecting", "closed"]);
  const second = start();
  const socket = await connection(connections.length + 1);
  second.close();
  await new Promise((done) => socket.once("close", done));
  expect(states.at(-1)).toEqual({ state: "closed" });
});
