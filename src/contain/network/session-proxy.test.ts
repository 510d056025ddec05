/** One session's proxy, in this process: real sockets on loopback, and names that resolve as a test says. */
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { until } from "../../../test/harness/until.ts";
import { readAllow } from "./allow-list.ts";
import { BlockedRecord, readBlocked } from "./blocked.ts";
import { SessionProxy, type SessionProxyOptions } from "./session-proxy.ts";
import { holdRequest } from "./request.ts";

const open: (() => void)[] = [];
afterAll(() => {
  for (const close of open.toReversed()) close();
});

async function listening(serve: (socket: Socket) => void): Promise<{ server: Server; port: number }> {
  const server = createServer({ allowHalfOpen: true }, serve).listen(0, "127.0.0.1");
  open.push(() => server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  return { server, port: (server.address() as AddressInfo).port };
}

interface Refused {
  host: string;
  port: number;
  why: string;
}

async function openProxy(allow: string[], options: Partial<SessionProxyOptions> = {}) {
  const refused: Refused[] = [];
  const holds: string[] = [];
  const proxy = new SessionProxy({
    allow: () => readAllow(allow),
    blocked: { add: (host, port, why) => void refused.push({ host, port, why }) },
    onHold: (lingerMs) => {
      holds.push(`held ${lingerMs}`);
      return () => void holds.push("released");
    },
    ...options,
  });
  const { port } = await listening((socket) => proxy.serve(socket));
  open.push(() => proxy.close());
  return { port, refused, holds, proxy };
}

/** Sends text, and reads until the other side ends or `enough` is there. */
function ask(port: number, text: string, enough?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    let read = "";
    const done = (): void => {
      socket.destroy();
      resolve(read);
    };
    socket.on("error", reject).on("end", done);
    socket.on("data", (bytes) => {
      read += bytes.toString("latin1");
      if (enough !== undefined && read.includes(enough)) done();
    });
    socket.write(text);
  });
}

test("[NETWORK-2] a listed host is reached, bytes pass unchanged both ways; another one is answered with 403 and the reason", async () => {
  const echo = await listening((socket) => socket.pipe(socket));
  const proxy = await openProxy([`127.0.0.1:${echo.port}`, "listed.example"]);
  const bytes = "\x16\x03\x01\x00\xff not text";
  const said = await ask(proxy.port, `CONNECT 127.0.0.1:${echo.port} HTTP/1.1\r\n\r\n${bytes}`, bytes.slice(-8));
  expect(said).toContain("200 Connection Established\r\n\r\n");
  const foreign = await ask(proxy.port, "CONNECT foreign.example:443 HTTP/1.1\r\n\r\n");
  expect(foreign).toMatch(/^HTTP\/1\.1 403 /);
  expect(foreign).toContain("foreign.example:443 is not in this session's network allow list");
  expect(await ask(proxy.port, "GET http://listed.example:8080/ HTTP/1.1\r\n\r\n")).toMatch(/^HTTP\/1\.1 403 /);
  expect(await ask(proxy.port, "GET / HTTP/1.1\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 /);
  expect(proxy.refused).toEqual([
    { host: "foreign.example", port: 443, why: "not-listed" },
    { host: "listed.example", port: 8080, why: "not-listed" },
  ]);
});

test("[NETWORK-3] the address is checked after the name is resolved, and the name is resolved once", async () => {
  const inner = await listening((socket) => socket.end("inner"));
  // Another address, which this test has for a public one.
  const outer = createServer((socket) => socket.end("outer")).listen(inner.port, "127.0.0.2");
  open.push(() => outer.close());
  await new Promise((resolve) => outer.once("listening", resolve));
  let asked = 0;
  // The first answer is public, each later one is this machine: as a hostile name server has it.
  const resolve = async () => [{ address: asked++ === 0 ? "127.0.0.2" : "127.0.0.1", family: 4 }];
  const wild = { resolve, isPublic: (address: string) => address === "127.0.0.2" };
  const proxy = await openProxy([`*.rebind.example:${inner.port}`, `named.example:${inner.port}`], wild);
  expect(await ask(proxy.port, `CONNECT a.rebind.example:${inner.port} HTTP/1.1\r\n\r\n`)).toContain("outer");
  expect(asked).toBe(1);
  const second = await ask(proxy.port, `CONNECT a.rebind.example:${inner.port} HTTP/1.1\r\n\r\n`);
  expect(second).toMatch(/^HTTP\/1\.1 403 /);
  expect(second).toContain("private network");
  // Named with its port, it may be private.
  expect(await ask(proxy.port, `CONNECT named.example:${inner.port} HTTP/1.1\r\n\r\n`)).toContain("inner");
  expect(proxy.refused).toEqual([{ host: "a.rebind.example", port: inner.port, why: "private" }]);
});

test("[NETWORK-3] loopback and metadata are refused behind any wildcard, by address and by name", async () => {
  const proxy = await openProxy(["*", "127.0.0.1", "localhost"], {
    resolve: async () => [{ address: "127.0.0.1", family: 4 }],
  });
  for (const host of ["127.0.0.1", "localhost", "169.254.169.254", "[::1]", "[::ffff:127.0.0.1]", "public.example"]) {
    expect(await ask(proxy.port, `CONNECT ${host}:80 HTTP/1.1\r\n\r\n`), host).toMatch(/^HTTP\/1\.1 403 /);
  }
  expect(proxy.refused.every(({ why }) => why === "private")).toBe(true);
});

test("[NETWORK-2] plain http arrives at the server in its own form, with its body", async () => {
  const seen: string[] = [];
  const server = await listening((socket) => {
    socket.on("data", (bytes) => {
      seen.push(bytes.toString());
      if (seen.join("").endsWith("body")) socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    });
  });
  const proxy = await openProxy([`127.0.0.1:${server.port}`]);
  const request = `POST http://127.0.0.1:${server.port}/x HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody`;
  expect(await ask(proxy.port, request)).toMatch(/^HTTP\/1\.1 200 OK.*ok$/s);
  expect(seen.join("")).toMatch(
    /^POST \/x HTTP\/1\.1\r\nHost: 127\.0\.0\.1:\d+\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody$/,
  );
});

test("[NETWORK-6] connections per session, the size of a head and the time for it are limited", async () => {
  const proxy = await openProxy([], { limits: { connections: 2, headBytes: 200, headMs: 200 } });
  expect(await ask(proxy.port, `GET http://a.example/${"x".repeat(300)} HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1\.1 431 /);
  const slow = [ask(proxy.port, "CONNECT "), ask(proxy.port, "CONNECT ")];
  await until("both to be counted", () => proxy.proxy.connections === 2);
  expect(await ask(proxy.port, "CONNECT a.example:443 HTTP/1.1\r\n\r\n")).toMatch(/^HTTP\/1\.1 503 /);
  expect(proxy.refused).toEqual([{ host: "*", port: 0, why: "too-many-connections" }]);
  for (const answer of await Promise.all(slow)) expect(answer).toMatch(/^HTTP\/1\.1 408 /);
});

test("[NETWORK-6] a connection that carries nothing for long is closed", async () => {
  const silent = await listening((socket) => void socket.resume());
  const proxy = await openProxy([`127.0.0.1:${silent.port}`], { limits: { idleMs: 100 } });
  const said = await ask(proxy.port, `CONNECT 127.0.0.1:${silent.port} HTTP/1.1\r\n\r\n`);
  expect(said).toContain("200 Connection Established");
});

test("[NETWORK-5] a bridge holds the proxy until its connection closes", async () => {
  const proxy = await openProxy([]);
  expect(await ask(proxy.port, holdRequest(1500), "\r\n\r\n")).toMatch(/^HTTP\/1\.1 200 /);
  await until("the release", () => proxy.holds.length === 2);
  expect(proxy.holds).toEqual(["held 1500", "released"]);
});

test("[NETWORK-4] refusals are counted by host and port, bounded, and continued by the next proxy", () => {
  const folder = mkdtempSync(join(tmpdir(), "hf-blocked-"));
  open.push(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "blocked.json");
  const record = new BlockedRecord(path);
  for (let at = 0; at < 3; at += 1) record.add("a.example", 443, "not-listed", at);
  for (let n = 0; n < 500; n += 1) record.add(`h${n}.example`, 443, "not-listed", 9);
  record.write();
  const first = readBlocked(path);
  expect(first.blocked[0]).toEqual({
    host: "a.example",
    port: 443,
    why: "not-listed",
    count: 3,
    firstAt: 0,
    lastAt: 2,
  });
  expect([first.blocked.length, first.more]).toEqual([100, 401]);
  const next = new BlockedRecord(path);
  next.add("a.example", 443, "not-listed", 10);
  next.write();
  expect(readBlocked(path).blocked[0]).toMatchObject({ count: 4, lastAt: 10 });
});
