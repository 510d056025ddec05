import { chmodSync, copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { request as httpsRequest } from "node:https";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execFileSync } from "node:child_process";
import type { TLSSocket } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeCertificate, type Certificate } from "../../test/harness/certificate.ts";
import { readPublicUrl } from "../base/addresses.ts";
import { describeListener, parseTcpTable, peersOf } from "../base/peer.ts";
import { readTlsFiles } from "../base/tls-files.ts";
import { openTestApi, send, type TestApi } from "./api.fixture.ts";
import { createHosts } from "./hosts.ts";

const publicUrls = ["https://box.example", "https://box.example:8443", "http://localhost:8080"];

describe("[REMOTE-1] a public URL", () => {
  test.each([
    ["https://box.example", "https://box.example"],
    ["https://Box.Example/", "https://box.example"],
    ["https://box.example:443", "https://box.example"],
    ["https://box.example:8443", "https://box.example:8443"],
    ["http://localhost:8080", "http://localhost:8080"],
    ["http://127.0.0.1:8080", "http://127.0.0.1:8080"],
    ["http://[::1]:8080", "http://[::1]:8080"],
  ])("%s is taken as %s", (text, url) => expect(readPublicUrl(text)).toEqual({ url }));

  test.each([
    "http://box.example",
    "http://localhost.example",
    "https://box.example/holdfast",
    "https://box.example/?a",
    "https://*.example",
    "https://me:secret@box.example",
    "https://box.example#a",
    "https:box.example",
    "https://box\\.example",
    "https:// box.example",
    "box.example",
    "ftp://box.example",
    "https://",
    "*",
    "",
  ])("%s is refused with the reason", (text) => {
    expect(readPublicUrl(text)).toEqual({ wrong: expect.stringMatching(/^[a-z]/) as string });
  });

  test("adds exactly one Host and one Origin", () => {
    const hosts = createHosts("127.0.0.1", 4710, { publicUrls });
    for (const host of ["box.example", "BOX.example", "box.example:8443", "localhost:8080", "127.0.0.1:4710"]) {
      expect([host, hosts.allows(host)]).toEqual([host, true]);
    }
    const foreign = [
      "box.example:443",
      "box.example:80",
      "a.box.example",
      "box.example.",
      "127.0.0.1:8080",
      "[::1]:8080",
    ];
    for (const host of foreign) expect([host, hosts.allows(host)]).toEqual([host, false]);
    for (const origin of [...publicUrls, "http://127.0.0.1:4710"]) expect(hosts.allowsOrigin(origin)).toBe(true);
    const others = [
      "http://box.example",
      "https://box.example:4710",
      "https://localhost:8080",
      "https://127.0.0.1:4710",
    ];
    for (const origin of others) expect([origin, hosts.allowsOrigin(origin)]).toEqual([origin, false]);
    expect(createHosts("127.0.0.1", 4710, { hasIpv6: () => false }).allows("[::1]:4710")).toBe(false);
    for (const host of ["127.0.0.1", "localhost", "0.0.0.0"]) {
      const without = createHosts(host, 4710, { publicUrls, hasLocalhost: () => false });
      expect(["localhost:4710", "LOCALHOST:4710", "localhost:8080"].map((each) => without.allows(each))).toEqual([
        false,
        false,
        true,
      ]);
      const origins = ["http://localhost:4710", "http://localhost:8080", "http://127.0.0.1:4710"];
      expect(origins.map((each) => without.allowsOrigin(each))).toEqual([false, true, true]);
      expect(without.url).toBe("http://127.0.0.1:4710");
    }
  });
});

describe("over TCP", () => {
  let it: TestApi;
  beforeAll(async () => {
    it = await openTestApi({ publicUrls });
  });
  afterAll(() => it.close());

  test("[REMOTE-3] forwarded headers change nothing", async () => {
    const forged = {
      "x-forwarded-host": "box.example",
      "x-forwarded-proto": "https",
      "x-forwarded-for": "203.0.113.7",
      forwarded: "for=203.0.113.7;host=box.example;proto=https",
    };
    const ask = (headers: Record<string, string>) => it.tcp("GET", "/api/info", { headers: { ...forged, ...headers } });
    expect((await ask({ host: "box.example", origin: "https://box.example" })).status).toBe(200);
    expect((await ask({ host: "evil.example" })).status).toBe(421);
    expect((await ask({ origin: "https://evil.example" })).status).toBe(403);
    expect((await ask({ authorization: "Bearer wrong" })).status).toBe(401);
  });

  test("[REMOTE-4] a refused Host or Origin names the option to add", async () => {
    const host = await it.tcp("GET", "/", { headers: { host: "box.tailnet.example" } });
    expect([host.status, host.json.error?.hint]).toEqual([421, expect.stringContaining("--public-url https://<name>")]);
    const origin = await it.tcp("GET", "/", { headers: { origin: "https://box.tailnet.example" } });
    expect([origin.status, origin.json.error?.hint]).toEqual([403, expect.stringContaining("--public-url")]);
  });

  test("[LIMIT-5] requests of other sites' pages are refused below /api, also where they have no Origin", async () => {
    const ask = async (path: string, site: string): Promise<number> =>
      (await it.tcp("GET", path, { headers: { "sec-fetch-site": site } })).status;
    for (const path of ["/api/health", "/api/sessions", "/openapi.json"]) {
      expect(await ask(path, "cross-site")).toBe(403);
      expect(await ask(path, "same-site")).toBe(403);
    }
    expect(await ask("/api/sessions", "same-origin")).toBe(200);
    expect(await ask("/api/sessions", "none")).toBe(200);
  });

  test("[API-23] localhost reaches us on [::1] too", async () => {
    const connected = await new Promise((resolve) => {
      const socket = connect(it.port, "::1", () => resolve(true)).on("error", () => resolve(false));
      socket.on("connect", () => socket.destroy());
    });
    expect(connected).toBe(true);
  });

  test("[API-21, API-23] where another program has the port on [::1], neither [::1] nor localhost is answered for", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "::1", resolve));
    const api = await openTestApi({ publicUrls });
    try {
      const { port } = other.address() as { port: number };
      const statuses = async (): Promise<number[]> => {
        const hosts = ["[::1]", "localhost", "127.0.0.1"].map((name) => `${name}:${port}`);
        const ask = (host: string) =>
          send(
            { host: "127.0.0.1", port, method: "GET", path: "/api/info" },
            { headers: { host, authorization: `Bearer ${api.token}` } },
          );
        return (await Promise.all([...hosts, "localhost:8080"].map(ask))).map(({ status }) => status);
      };
      await api.api.listenTcp("localhost", port);
      expect(await statuses()).toEqual([421, 421, 200, 200]);
      expect(await api.api.listenIpv6()).toBe(false);
      expect(await statuses()).toEqual([421, 421, 200, 200]);
    } finally {
      await api.close();
      await new Promise((resolve) => other.close(resolve));
    }
  });

  test("[LIMIT-3] health distinguishes strangers from clients with a credential", async () => {
    const known = async (headers: Record<string, string | undefined>): Promise<boolean | undefined> => {
      expect((await it.tcp("GET", "/api/health", { headers })).status).toBe(200);
      return it.asked.at(-1)?.ask.isKnown;
    };
    expect(await known({})).toBe(true);
    expect(await known({ authorization: undefined })).toBe(false);
    expect(await known({ authorization: "Bearer wrong" })).toBe(false);
    await it.unix("GET", "/api/health");
    expect(it.asked.at(-1)?.ask.isKnown).toBe(true);
  });
});

describe("our own TLS", () => {
  let directory: string;
  let first: Certificate;
  let second: Certificate;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "hf-tls-"));
    first = makeCertificate(directory, "first", "one.example");
    second = makeCertificate(directory, "second", "two.example");
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  function get(api: TestApi, headers: Record<string, string> = {}): Promise<{ status: number; name: string }> {
    return new Promise((resolve, reject) => {
      const authorization = `Bearer ${api.token}`;
      const options = { host: "127.0.0.1", port: api.port, path: "/api/info", rejectUnauthorized: false, agent: false };
      const request = httpsRequest({ ...options, headers: { authorization, ...headers } }, (response) => {
        const { subject } = (response.socket as TLSSocket).getPeerCertificate();
        resolve({ status: response.statusCode ?? 0, name: String(subject.CN) });
        response.resume();
      });
      request.on("error", reject);
      request.end();
    });
  }

  test("[REMOTE-5, REMOTE-6] serves https, keeps the certificate while a renewal is half done, then uses the new one", async () => {
    const files = { cert: join(directory, "live.crt"), key: join(directory, "live.key") };
    const put = (from: string, to: string): void => {
      copyFileSync(from, `${to}.new`);
      renameSync(`${to}.new`, to);
    };
    put(first.cert, files.cert);
    put(first.key, files.key);
    const api = await openTestApi({ tls: files, publicUrls });
    try {
      expect(api.url).toBe(`https://127.0.0.1:${api.port}`);
      expect(await get(api)).toEqual({ status: 200, name: "one.example" });
      expect((await get(api, { host: "box.example", origin: "https://box.example" })).status).toBe(200);
      expect((await get(api, { origin: `http://127.0.0.1:${api.port}` })).status).toBe(403);
      put(second.cert, files.cert);
      expect(await get(api)).toEqual({ status: 200, name: "one.example" });
      put(second.key, files.key);
      expect(await get(api)).toEqual({ status: 200, name: "two.example" });
      const messages = api.logged.map(({ message }) => message);
      expect(messages).toContain("the renewed TLS files cannot be used; the ones before stay");
      const link = (await api.unix("POST", "/api/login-link", { json: {} })).json;
      expect(link["url"]).toMatch(/^https:\/\/box\.example\/#login=/);
      await expect(api.tcp("GET", "/api/info")).rejects.toThrow(/socket hang up|ECONNRESET/);
    } finally {
      await api.close();
    }
  });

  test("[REMOTE-5] files that cannot work are named, with the next step", () => {
    const wrong = (cert: string, key: string): unknown => {
      const read = readTlsFiles({ cert, key });
      return read.is === "wrong" ? read.message : read.warnings;
    };
    const missing = join(directory, "missing");
    expect(wrong(missing, first.key)).toBe(`Cannot read the TLS certificate ${missing}: there is no such file.`);
    expect(wrong(first.cert, missing)).toBe(`Cannot read the TLS key ${missing}: there is no such file.`);
    expect(wrong(first.cert, second.key)).toBe(
      `The TLS key ${second.key} does not belong to the certificate ${first.cert}.`,
    );
    expect(wrong(first.key, first.key)).toBe(`${first.key} is not a PEM certificate.`);
    expect(wrong(first.cert, first.cert)).toBe(`${first.cert} is not a PEM private key.`);
    const sealed = join(directory, "sealed.key");
    execFileSync("openssl", ["pkey", "-in", first.key, "-aes256", "-passout", "pass:x", "-out", sealed]);
    expect(wrong(first.cert, sealed)).toBe(`The TLS key ${sealed} is encrypted.`);
    expect(wrong(first.cert, first.key)).toEqual([]);
    const open = join(directory, "open.key");
    writeFileSync(open, readFileSync(first.key));
    chmodSync(open, 0o644);
    expect(wrong(first.cert, open)).toEqual([
      expect.stringContaining(`Others can read the TLS key ${open} (mode 644)`),
    ]);
    const old = makeCertificate(directory, "old", "old.example", -1);
    expect(wrong(old.cert, old.key)).toEqual([expect.stringContaining("expired on")]);
    const soon = makeCertificate(directory, "soon", "soon.example", 3);
    expect(wrong(soon.cert, soon.key)).toEqual([expect.stringContaining("expires on")]);
  });
});

test("[REMOTE-8, LIMIT-1] who listens on a port, and who is connected to it, is read from the kernel's table", async () => {
  const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1266 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1001        0 1 1 0 100 0 0 10 0
   1: 0200007F:D431 0100007F:1266 01 00000000:00000000 00:00000000 00000000  1002        0 2 1 0 20 4 30 10 -1
`;
  expect(parseTcpTable(table)).toEqual([
    { localPort: 4710, remotePort: 0, listens: true, uid: 1001, inode: "1" },
    { localPort: 54_321, remotePort: 4710, listens: false, uid: 1002, inode: "2" },
  ]);
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  expect(describeListener(port)).toBe("another program of yours");
  const peer = connect(port, "127.0.0.1");
  await new Promise((resolve) => peer.once("connect", resolve));
  expect(peersOf(port).get(peer.localPort ?? 0)).toBe(process.getuid?.());
  peer.destroy();
  await new Promise((resolve) => server.close(resolve));
  expect(describeListener(port)).toBe("another program");
});
