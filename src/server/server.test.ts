import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { Agent, request as httpRequest } from "node:http";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import type { Api } from "./server.ts";
import {
  noTerminals,
  openTestApi,
  recordingHandlers,
  send,
  temporaryDirectory,
  trustingCallers,
  type TestApi,
} from "./api.fixture.ts";

let directory: string;
let it: TestApi;
const others: Server[] = [];
beforeEach(async () => {
  directory = temporaryDirectory();
  it = await openTestApi();
});
afterEach(async () => {
  await it.close();
  await Promise.all(others.splice(0).map((server) => new Promise((done) => server.close(done))));
  rmSync(directory, { recursive: true, force: true });
});

/** A second API on a path of the test's own. */
async function listenOn(path: string): Promise<Api> {
  const { createApi } = await import("./server.ts");
  const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const rest = { webDirectory: null, version: "1", build: "1", readOnly: false, log };
  const api = createApi({
    handlers: recordingHandlers([]),
    authorize: () => undefined,
    callers: trustingCallers,
    tail: it.tail,
    terminals: noTerminals,
    access: it.access,
    ...rest,
  });
  try {
    await api.listenSocket(path);
  } catch (error) {
    await api.close();
    throw error;
  }
  return api;
}

async function listener(path: string): Promise<Server> {
  const server = createServer();
  others.push(server);
  await new Promise<void>((done) => server.listen(path, done));
  return server;
}

describe("the unix socket", () => {
  test("[API-2] is 0600, and gone after close", async () => {
    expect(statSync(it.socket).mode & 0o777).toBe(0o600);
    await it.api.close();
    expect(existsSync(it.socket)).toBe(false);
  });

  test("[BASE-2] a stale socket, which refuses connections, is replaced", async () => {
    const path = join(directory, "stale.sock");
    const server = await listener(join(directory, "first.sock"));
    renameSync(join(directory, "first.sock"), path);
    await new Promise((done) => server.close(done));
    others.splice(0);
    expect(lstatSync(path).isSocket()).toBe(true);
    const api = await listenOn(path);
    expect((await send({ socketPath: path, path: "/api/info" })).status).toBe(200);
    await api.close();
  });

  test("[BASE-2] a file on the path is an error, and stays", async () => {
    const path = join(directory, "file.sock");
    writeFileSync(path, "precious");
    await expect(listenOn(path)).rejects.toThrow(`${path} is not a socket; it was not changed.`);
    expect(readFileSync(path, "utf8")).toBe("precious");
    symlinkSync(path, join(directory, "link.sock"));
    await expect(listenOn(join(directory, "link.sock"))).rejects.toThrow("is not a socket; it was not changed.");
  });

  test("[BASE-2] another program that answers on the path is an error, and goes on", async () => {
    const path = join(directory, "other.sock");
    await listener(path);
    await expect(listenOn(path)).rejects.toThrow(`Another program answers on ${path}; it was not changed.`);
    const socket = connect(path);
    await new Promise((done) => socket.once("connect", done));
    socket.destroy();
  });

  test("[BASE-2] a path over 107 bytes is refused in words", async () => {
    const path = join(directory, "x".repeat(110));
    await expect(listenOn(path)).rejects.toThrow(`The socket path is longer than 107 bytes: ${path}`);
  });

  test("[API-2] a directory that others may enter is refused", async () => {
    const open = join(directory, "open");
    mkdirSync(open);
    chmodSync(open, 0o755);
    await expect(listenOn(join(open, "s.sock"))).rejects.toThrow(`${open} must belong to you alone (mode 0700)`);
  });
});

describe("the port", () => {
  test("[API-3] a taken port is an error that says so and keeps its cause", async () => {
    const taken = it.api.listenTcp("127.0.0.1", it.port);
    await expect(taken).rejects.toMatchObject({
      code: "conflict",
      message: `127.0.0.1:${it.port} is taken by another program of yours.`,
      cause: { code: "EADDRINUSE" },
    });
  });

  test("[API-3] an address that this machine does not have is told so, with the next step", async () => {
    const home = temporaryDirectory();
    writeFileSync(join(home, "passphrase"), "correct horse\n");
    const beyond = await openTestApi({ home, mode: "passphrase" });
    try {
      // Reserved for documentation: nobody's.
      await expect(beyond.api.listenTcp("192.0.2.1", 0)).rejects.toMatchObject({
        message: "Cannot listen on 192.0.2.1:0: this machine does not have that address.",
        hint: "Choose another address with --host or --port, or leave them out.",
      });
    } finally {
      await beyond.close();
      rmSync(home, { recursive: true, force: true });
    }
  });

  test("[API-23] only the given address is bound", async () => {
    const refused = await new Promise<string>((resolve) => {
      const socket = connect(it.port, "127.0.0.2");
      socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? ""));
      socket.once("connect", () => {
        socket.destroy();
        resolve("connected");
      });
    });
    expect(refused).toBe("ECONNREFUSED");
  });
});

describe("close", () => {
  test("[API-14] takes less than a second with followers, idle connections and a request that never ends", async () => {
    let begun = false;
    const slow = await openTestApi({
      handlers: recordingHandlers([], {
        info: () => {
          begun = true;
          return new Promise<never>(() => undefined);
        },
      }),
    });
    const headers = { authorization: `Bearer ${slow.token}` };
    const agent = new Agent({ keepAlive: true });
    const target = { host: "127.0.0.1", port: slow.port, headers, agent };
    const ended: Promise<unknown>[] = [];
    const get = (path: string): Promise<void> =>
      new Promise((resolve) => {
        const request = httpRequest({ ...target, path }, (response) => {
          ended.push(new Promise((done) => response.on("close", done)));
          response.once("data", () => resolve());
        });
        ended.push(new Promise((done) => request.on("close", done)));
        request.on("error", () => resolve());
        request.end();
      });
    const webSocket = new WebSocket(`ws://127.0.0.1:${slow.port}/api/stream`, { headers });
    const closeCode = new Promise((resolve) => webSocket.on("close", resolve));
    await new Promise((resolve) => webSocket.once("message", resolve));
    // One that does not even answer the goodbye.
    const deaf = new WebSocket(`ws://127.0.0.1:${slow.port}/api/stream`, { headers });
    deaf.on("error", () => undefined);
    await new Promise((resolve) => deaf.once("message", resolve));
    deaf.pause();
    await get("/api/events");
    await get("/api/sessions");
    void get("/api/info");
    const silent = connect(slow.port, "127.0.0.1");
    await new Promise((resolve) => silent.once("connect", resolve));
    await expect.poll(() => begun, { interval: 2 }).toBe(true);

    const before = performance.now();
    await slow.close();
    expect(performance.now() - before).toBeLessThan(1000);
    expect(await closeCode).toBe(1001);
    await Promise.all(ended);
    expect(slow.tail.listeners).toBe(0);
    agent.destroy();
    silent.destroy();
    deaf.terminate();
  });

  test("[API-14] an answer that is under way is finished, and closing twice is safe", async () => {
    let finish: (() => void) | undefined;
    const slow = await openTestApi({
      handlers: recordingHandlers([], { doctor: () => new Promise((resolve) => (finish = () => resolve([]))) }),
    });
    const agent = new Agent({ keepAlive: true });
    const answer = send({ socketPath: slow.socket, path: "/api/doctor", agent });
    await expect.poll(() => finish, { interval: 2 }).toBeDefined();
    const closed = slow.close();
    finish?.();
    expect((await answer).status).toBe(200);
    expect((await answer).headers.connection).toBe("close");
    await closed;
    await slow.api.close();
    agent.destroy();
  });
});

test("[API-15] what is not HTTP is refused and harms nobody else", async () => {
  const answer = await new Promise<string>((resolve, reject) => {
    let text = "";
    const socket = connect(it.port, "127.0.0.1", () => socket.write("\x16\x03\x01 hello\r\n\r\n"));
    socket.on("data", (part) => (text += part.toString()));
    socket.on("close", () => resolve(text));
    socket.on("error", reject);
  });
  expect(answer).toContain("400 Bad Request");
  expect(answer).toContain("This is not an HTTP request.");
  expect((await it.tcp("GET", "/api/info")).status).toBe(200);
});

test("[API-15] an offer to speak HTTP/2 is ignored and the request answered", async () => {
  const headers = { connection: "Upgrade, HTTP2-Settings", upgrade: "h2c", "http2-settings": "AAMAAABkAAQ" };
  expect((await it.tcp("GET", "/api/info", { headers })).status).toBe(200);
});
