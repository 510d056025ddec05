import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer, type AddressInfo, type Server } from "node:net";
import { expect, test } from "vitest";
import type { InfoJson } from "../../src/contract/daemon.ts";
import { Home } from "../harness/home.ts";
import { until } from "../harness/until.ts";

async function takePort(port: number): Promise<Server> {
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  return server;
}

/** A home whose default port is taken by another program. Not the real default: daemons of other tests use that. */
async function withTakenPort(): Promise<{ home: Home; other: Server; port: string }> {
  const other = await takePort(0);
  const port = String((other.address() as AddressInfo).port);
  return { home: new Home({ HOLDFAST_TEST_PORT: port }), other, port };
}

const portOf = (home: Home): string => new URL(home.daemon().url).port;

const info = (home: Home): Promise<InfoJson> => home.json<InfoJson>(["info"]);

test("[DAEMON-12] a requested port that is taken is an error with the next step", async () => {
  await using home = new Home();
  const other = createServer().listen(0, "127.0.0.1");
  await until("the other program", () => other.listening);
  const { port } = other.address() as { port: number };
  try {
    const ran = await home.cli(["start", "--port", String(port)]);
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain(`127.0.0.1:${port} is taken by another program of yours.`);
    expect(ran.stderr).toContain("--port 0");
  } finally {
    other.close();
  }
});

test("[DAEMON-12] the default port gives way to a free one when another program has it", async () => {
  const { home: made, other, port } = await withTakenPort();
  await using home = made;
  try {
    await home.ok(["start"]);
    expect(portOf(home)).not.toBe(port);
    expect((await info(home)).state).toBe("running");
    await home.ok(["stop"]);
  } finally {
    other.close();
  }
});

test("[DAEMON-20] the next start reuses the alternative port while it is free", async () => {
  const { home: made, other, port } = await withTakenPort();
  await using home = made;
  const servers = [other];
  try {
    await home.ok(["start"]);
    const { url } = home.daemon();
    expect(portOf(home)).not.toBe(port);
    await home.ok(["stop"]);
    await home.ok(["start"]);
    expect(home.daemon().url).toBe(url);
    await home.ok(["stop"]);
    servers.push(await takePort(Number(new URL(url).port)));
    await home.ok(["session", "ls"]);
    expect(home.daemon().url).not.toBe(url);
  } finally {
    for (const server of servers) server.close();
  }
});

test("[DAEMON-13] beyond loopback it needs a passphrase", async () => {
  await using home = new Home();
  const ran = await home.cli(["start", "--host", "0.0.0.0", "--port", "0"]);
  expect(ran.code).toBe(1);
  expect(ran.stderr).toContain("passphrase");
  expect(existsSync(home.paths.daemonFile)).toBe(false);
});
