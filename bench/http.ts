/**
 * The API against a bare node:http server in the same run, and one message per tick to ten followers.
 * Prints JSON lines; takes about ten seconds. Run: npm exec -c 'node bench/http.ts'
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, createServer, request, type RequestOptions } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WebSocket } from "ws";
import { openAccess } from "../src/server/access.ts";
import { createApi } from "../src/server/server.ts";
import {
  MemoryTail,
  noTerminals,
  collectingLogger,
  memorySettings,
  recordingHandlers,
  trustingCallers,
} from "../src/server/api.fixture.ts";

const measureMs = 1_500;
const concurrency = 8;
const followerCount = 10;
const fanOutTicks = 100;
const eventsPerTick = 100;

const info = {
  state: "running" as const,
  pid: process.pid,
  version: "0.1.0",
  build: "0.1.0+bench",
  url: "http://127.0.0.1:4710",
  socket: "/run/daemon.sock",
  home: "/home",
  startedAt: new Date(0).toISOString(),
  managedBy: null,
};

const directory = mkdtempSync(join(tmpdir(), "hf-bench-"));
const tail = new MemoryTail();
const log = collectingLogger([]);
const access = openAccess({
  tokenFile: join(directory, "token"),
  passphraseFile: join(directory, "passphrase"),
  mode: "token",
  settings: memorySettings(),
  now: Date.now,
});
const handlers = recordingHandlers([], { info: () => info });
const about = { webDirectory: null, version: "0.1.0", build: "0.1.0+bench", readOnly: false, log };
const authorize = () => undefined;
const api = createApi({
  handlers,
  authorize,
  callers: trustingCallers,
  tail,
  terminals: noTerminals,
  access,
  ...about,
});
const socketPath = join(directory, "s.sock");
await api.listenSocket(socketPath);
const { port } = await api.listenTcp("127.0.0.1", 0);
const token = readFileSync(join(directory, "token"), "utf8").trim();
const authorization = `Bearer ${token}`;

const bare = createServer((_, response) => {
  const text = JSON.stringify(info);
  response.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) }).end(text);
});
const barePath = join(directory, "bare.sock");
const bareOverTcp = createServer(bare.listeners("request")[0] as never);
await new Promise<void>((done) => bare.listen(barePath, done));
await new Promise<void>((done) => bareOverTcp.listen(0, "127.0.0.1", done));
const barePort = (bareOverTcp.address() as AddressInfo).port;

await compare("unix", { socketPath }, { socketPath: barePath });
await compare("tcp", { host: "127.0.0.1", port }, { host: "127.0.0.1", port: barePort });
await fanOut();

await api.close();
bareOverTcp.close();
bare.close();
rmSync(directory, { recursive: true, force: true });

async function compare(via: string, ours: RequestOptions, floor: RequestOptions): Promise<void> {
  // One warm-up each, then in turns, so that a busy moment of the machine affects both.
  await rate(ours, 200);
  await rate(floor, 200);
  const rounds = [];
  for (let round = 0; round < 2; round++) {
    rounds.push({ floor: await rate(floor, measureMs / 2), ours: await rate(ours, measureMs / 2) });
  }
  const floorRate = rounds.reduce((sum, each) => sum + each.floor, 0) / rounds.length;
  const ourRate = rounds.reduce((sum, each) => sum + each.ours, 0) / rounds.length;
  report({
    bench: "http-info",
    via,
    requestsPerSecond: Math.round(ourRate),
    bareNodeHttp: Math.round(floorRate),
    ratio: round(ourRate / floorRate),
  });
}

async function rate(target: RequestOptions, forMs: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  const until = performance.now() + forMs;
  const begun = performance.now();
  let count = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() < until) {
      await get({ ...target, agent, path: "/api/info", headers: { authorization } });
      count++;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  const seconds = (performance.now() - begun) / 1000;
  agent.destroy();
  return count / seconds;
}

function get(options: RequestOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    request(options, (response) => {
      if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode ?? 0}`));
      response.resume().on("end", resolve);
    })
      .on("error", reject)
      .end();
  });
}

async function fanOut(): Promise<void> {
  const received = Array.from({ length: followerCount }, () => ({ messages: 0, cursor: 0 }));
  const sockets = await Promise.all(
    received.map(async (counter) => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/api/stream?after=0`, { headers: { authorization } });
      await new Promise((ready) => socket.once("message", ready));
      socket.on("message", (data: Buffer) => {
        counter.messages++;
        counter.cursor = (JSON.parse(data.toString()) as { cursor: number }).cursor;
      });
      return socket;
    }),
  );
  const begun = performance.now();
  for (let tick = 0; tick < fanOutTicks; tick++) {
    for (let event = 0; event < eventsPerTick; event++) tail.commit("ma-1", "text of an event");
    const wanted = tail.cursor;
    while (received.some((each) => each.cursor < wanted)) await new Promise((resume) => setTimeout(resume, 1));
  }
  const seconds = (performance.now() - begun) / 1000;
  for (const socket of sockets) socket.terminate();
  const messages = received.reduce((sum, each) => sum + each.messages, 0);
  report({
    bench: "http-fan-out",
    followers: followerCount,
    ticks: fanOutTicks,
    eventsPerTick,
    messagesPerFollowerAndTick: round(messages / followerCount / fanOutTicks),
    deliveredEventsPerSecond: Math.round((fanOutTicks * eventsPerTick * followerCount) / seconds),
  });
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function report(line: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
