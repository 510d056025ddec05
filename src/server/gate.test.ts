import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { openTestApi, send, type Answer, type TestApi } from "./api.fixture.ts";
import { createWho, type Listener } from "./gate.ts";
import { createHosts } from "./hosts.ts";
import { createStrangers } from "./strangers.ts";

let it: TestApi;
beforeAll(async () => {
  it = await openTestApi();
});
afterAll(() => it.close());

const said = ({ status, json }: Answer): unknown[] => [status, json.error?.code, json.error?.message];

describe("token", () => {
  test("[API-1] a request over TCP without a token is refused, loopback included", async () => {
    const answer = await it.tcp("GET", "/api/info", { headers: { authorization: undefined } });
    expect(said(answer)).toEqual([401, "unauthorized", "Authentication required."]);
    expect(answer.json.error?.hint).toContain("holdfast dashboard");
  });

  test("[API-1] a wrong token is refused", async () => {
    const answer = await it.tcp("GET", "/api/info", { headers: { authorization: `Bearer ${"x".repeat(43)}` } });
    expect(said(answer)).toEqual([401, "unauthorized", "The token is not valid."]);
  });

  test("[API-1] a token in the address is not taken", async () => {
    const answer = await it.tcp("GET", `/api/info?token=${it.token}`, { headers: { authorization: undefined } });
    expect(said(answer)).toEqual([401, "unauthorized", "Authentication required."]);
  });

  test("[API-1] the right token is let in", async () => {
    expect((await it.tcp("GET", "/api/info")).json).toEqual({ route: "info" });
  });

  test("[API-1] the unix socket asks for no token, and its Host and Origin mean nothing", async () => {
    const headers = { host: "anything", origin: "http://evil.example" };
    expect((await it.unix("GET", "/api/info", { headers })).json).toEqual({ route: "info" });
  });

  test("[API-1] health is answered without a token", async () => {
    const answer = await it.tcp("GET", "/api/health", { headers: { authorization: undefined } });
    expect(answer.json).toEqual({ route: "health" });
  });

  test("[API-1] whether a path exists is not told without a token", async () => {
    const answer = await it.tcp("GET", "/api/nothing", { headers: { authorization: undefined } });
    expect(said(answer)).toEqual([401, "unauthorized", "Authentication required."]);
  });
});

test("[AUTHORIZE-6] the main token's client is looked up at every address of this machine, and at no other", () => {
  const who = createWho({
    peer: () => ({ is: "unknown" }),
    tcpPeer: () => ({ is: "unknown" }),
    actor: () => "session:an-agent",
  });
  const door: Listener = {
    via: "tcp",
    hosts: createHosts("0.0.0.0", 4710),
    strangers: createStrangers({ port: () => 4710 }),
  };
  const actor = (remoteAddress: string | undefined, localAddress = "198.51.100.1"): string =>
    who.actor({ socket: { remoteAddress, localAddress } } as IncomingMessage, door, { bearer: "main" });
  const own = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
  const mapped = own.filter((address) => !address.includes(":")).map((address) => `::ffff:${address}`);
  const zoned = own.filter((address) => address.startsWith("fe80:")).map((address) => `${address}%eth0`);
  for (const address of [...own, ...mapped, ...zoned, "127.0.0.1", "127.9.9.9", "::ffff:127.0.0.2", "::1"]) {
    expect([address, actor(address)]).toEqual([address, "session:an-agent"]);
  }
  // One that this machine got since its addresses were read.
  expect(actor("203.0.113.7", "203.0.113.7")).toBe("session:an-agent");
  for (const address of ["203.0.113.7", "::ffff:203.0.113.7", "2001:db8::1"]) expect(actor(address)).toBe("person");
});

describe("Host", () => {
  const good = ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"];
  test.each(good)("[API-21] %s with our port is answered", async (name) => {
    const answer = await it.tcp("GET", "/api/info", { headers: { host: `${name}:${it.port}` } });
    expect(answer.status).toBe(200);
  });

  const bad = ["evil.example", "127.0.0.1", "localhost:1", "127.0.0.1.evil.example", "0.0.0.0", "127.0.0.2"];
  test.each(bad)("[API-21] Host %s is refused, also for health and the dashboard's files", async (host) => {
    const named = host.includes(":") || host === "127.0.0.1" ? host : `${host}:${it.port}`;
    for (const path of ["/api/info", "/api/health", "/"]) {
      const answer = await it.tcp("GET", path, { headers: { host: named } });
      expect(said(answer)).toEqual([421, "misdirected-host", `Host not allowed: "${named}".`]);
      expect(answer.json.error?.hint).toContain(it.url);
    }
  });

  test("[API-21] no Host and two Hosts are refused", async () => {
    const authorization = `Authorization: Bearer ${it.token}\r\nConnection: close\r\n\r\n`;
    const none = await raw(it.port, `GET /api/info HTTP/1.1\r\n${authorization}`);
    expect(none).toContain("421");
    expect(none).toContain("Host not allowed: none.");
    const host = `Host: 127.0.0.1:${it.port}\r\n`;
    const two = await raw(it.port, `GET /api/info HTTP/1.1\r\n${host}Host: evil.example\r\n${authorization}`);
    expect(two).toContain("Host not allowed: several.");
  });

  test("[API-21] an address that names another server is refused: this is no proxy", async () => {
    const answer = await it.tcp("GET", "http://evil.example/api/info");
    expect(said(answer)).toEqual([400, "invalid", "The address must be a path: this daemon is not a proxy."]);
  });
});

describe("Origin", () => {
  test("[API-22] the dashboard's own origin is let in", async () => {
    for (const origin of [it.url, `http://localhost:${it.port}`]) {
      expect((await it.tcp("GET", "/api/info", { headers: { origin } })).status).toBe(200);
    }
  });

  test("[API-22] every other origin is refused: other site, other port, other scheme, null", async () => {
    const port = it.port;
    const others = [
      "http://evil.example",
      `http://evil.example:${port}`,
      `http://127.0.0.1:${port + 1}`,
      "http://localhost:3000",
      "http://localhost",
      `https://127.0.0.1:${port}`,
      `http://127.0.0.1:${port}.evil.example`,
      `http://x@127.0.0.1:${port}`,
      "null",
      "",
    ];
    for (const origin of others) {
      const answer = await it.tcp("GET", "/api/info", { headers: { origin } });
      expect(said(answer)).toEqual([403, "forbidden", `Requests from this Origin are refused: "${origin}".`]);
    }
  });

  test("[API-22] an Origin that equals a foreign Host is refused by its Host", async () => {
    const headers = { host: `evil.example:${it.port}`, origin: `http://evil.example:${it.port}` };
    expect(said(await it.tcp("GET", "/api/info", { headers }))).toEqual([
      421,
      "misdirected-host",
      `Host not allowed: "evil.example:${it.port}".`,
    ]);
  });
});

describe("routes", () => {
  test("[API-4] an unknown path is 404", async () => {
    const answer = await it.tcp("GET", "/api/nothing");
    expect(said(answer)).toEqual([404, "not-found", "Not found: GET /api/nothing."]);
  });

  test("[API-4] a wrong method is 405 and says which are possible", async () => {
    const answer = await it.tcp("DELETE", "/api/sessions");
    expect(said(answer)).toEqual([405, "method-not-allowed", "DELETE is not allowed for /api/sessions."]);
    expect(answer.headers.allow).toBe("GET, HEAD, POST");
  });

  test("[API-5] a socket-only route over TCP is as if it were not there", async () => {
    const answer = await it.tcp("POST", "/api/login-link", { json: {} });
    expect(said(answer)).toEqual([404, "not-found", "Not found: POST /api/login-link."]);
    expect(answer.json.error?.hint).toContain("unix socket");
  });

  test("[API-4] an unknown query parameter is an error that names the known ones", async () => {
    const answer = await it.tcp("GET", "/api/sessions?projekt=a");
    expect(said(answer)).toEqual([400, "invalid", 'Unknown query parameter "projekt".']);
    expect(answer.json.error?.hint).toBe("Known: project.");
  });

  test("[API-4] parameters and query reach the handler decoded", async () => {
    await it.tcp("GET", "/api/sessions/ma%2D1/events?since=3");
    expect(it.asked.at(-1)).toMatchObject({ route: "events", ask: { params: { id: "ma-1" }, query: { since: "3" } } });
  });

  test("[API-4] a broken escape in the address is 400", async () => {
    expect(said(await it.tcp("GET", "/api/sessions/%zz"))).toEqual([
      400,
      "invalid",
      'Invalid percent-encoding in the URL: "%zz".',
    ]);
  });

  test("[API-6] an address over 4096 bytes and headers over 16 KiB are refused", async () => {
    expect(said(await it.tcp("GET", `/api/sessions?project=${"x".repeat(5000)}`))).toEqual([
      414,
      "too-large",
      "The address is longer than 4096 bytes.",
    ]);
    expect(said(await it.tcp("GET", "/api/info", { headers: { "x-long": "x".repeat(20_000) } }))).toEqual([
      431,
      "too-large",
      "The headers are larger than 16384 bytes.",
    ]);
  });
});

describe("actor", () => {
  test("[API-7] over the socket a session may be named as actor; over TCP it is always the person", async () => {
    const headers = { "holdfast-actor": "session:ma-2" };
    await it.unix("POST", "/api/sessions/ma-1/stop", { json: {}, headers });
    expect(it.asked.at(-1)?.ask.actor).toBe("session:ma-2");
    await it.tcp("POST", "/api/sessions/ma-1/stop", { json: {}, headers });
    expect(it.asked.at(-1)?.ask.actor).toBe("person");
    await it.unix("POST", "/api/sessions/ma-1/stop", { json: {} });
    expect(it.asked.at(-1)?.ask.actor).toBe("person");
  });

  test("[API-7] an actor that is no session is refused", async () => {
    const answer = await it.unix("GET", "/api/info", { headers: { "holdfast-actor": "cleanup" } });
    expect(said(answer)).toEqual([400, "invalid", 'holdfast-actor must be "session:<id>", not "cleanup".']);
  });
});

test("[API-8] every answer carries the security headers, refusals included", async () => {
  const answers = [
    await it.tcp("GET", "/api/info"),
    await it.tcp("GET", "/api/nothing"),
    await it.tcp("GET", "/nothing"),
    await it.tcp("GET", "/api/info", { headers: { host: "evil.example" } }),
    await send(
      { socketPath: it.socket, path: "/api/info", headers: {} },
      { headers: { "x-long": "x".repeat(20_000) } },
    ),
  ];
  for (const { headers } of answers) {
    expect(headers["content-security-policy"]).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; " +
        "img-src 'self' data: blob:; font-src 'self'; worker-src 'self'; manifest-src 'self'; " +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect(headers["referrer-policy"]).toBe("no-referrer");
    expect(headers["cross-origin-opener-policy"]).toBe("same-origin");
    expect(headers["cross-origin-resource-policy"]).toBe("same-origin");
    expect(headers["permissions-policy"]).toContain("camera=()");
    expect(headers["cache-control"]).toBe("no-store");
    expect(headers["set-cookie"]).toBeUndefined();
    expect(headers["access-control-allow-origin"]).toBeUndefined();
  }
});

function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    socket.on("data", (part) => (answer += part.toString()));
    socket.on("end", () => resolve(answer));
    socket.on("error", reject);
  });
}
