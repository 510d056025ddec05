/** Access from elsewhere, configured by the commands. The proxy is in test/browser/push-https.test.ts. */
import { once } from "node:events";
import { renameSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { FindingJson, InfoJson } from "../../src/contract/daemon.ts";
import { makeCertificate } from "../harness/certificate.ts";
import { ChatHome } from "../harness/chat.ts";
import { Home } from "../harness/home.ts";
import { PushService } from "../push/push-service.ts";

test("[REMOTE-2, REMOTE-5, REMOTE-8] public URLs and TLS are stored, shown and accepted; a taken default port is reported", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  await using home = new Home({ HOLDFAST_TEST_PORT: String(port) });
  try {
    const { cert, key } = makeCertificate(home.directory, "live", "box.example");
    const tls = ["--tls-cert", "live.crt", "--tls-key", "live.key"];
    const started = await home.cli(["start", "--public-url", "https://box.example", ...tls]);
    expect(started.stdout).toMatch(/^Holdfast is running at https:\/\/127\.0\.0\.1:\d+ /);
    expect(started.stdout).toContain("Also at https://box.example\n");
    expect(started.stderr).toContain(`127.0.0.1:${port} is taken by another program of yours.`);
    const shown = await home.json<InfoJson>(["info"]);
    expect(shown).toMatchObject({ publicUrls: ["https://box.example"], tls: { cert } });
    expect(await home.ok(["info"])).toMatch(/Also at: +https:\/\/box\.example\nTLS: +\S+live\.crt \(until 20/);
    const status = await new Promise((resolve, reject) => {
      const at = Number(new URL(home.daemon().url).port);
      const options = { host: "127.0.0.1", port: at, path: "/", headers: { host: "box.example" } };
      const asked = request({ ...options, rejectUnauthorized: false, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      asked.on("error", reject);
      asked.end();
    });
    expect(status).toBe(200);
    expect(await home.ok(["dashboard", "--no-open"])).toContain("https://box.example/#login=");
    const refused = await home.cli(["start", "--public-url", "https://other.example"]);
    expect(refused.stderr).toContain("It keeps its options; --public-url had no effect.");
    const still = await home.cli(["start", "--read-only", "--port", "0"]);
    expect(still.stderr).toContain("It keeps its options; --read-only had no effect.");
    expect((await home.cli(["start"])).stderr).not.toContain("no effect");
    await home.ok(["restart"]);
    await home.ok(["stop"]);
    await home.ok(["start", "--port", "0"]);
    const kept = { publicUrls: ["https://box.example"], tlsCert: cert, tlsKey: key };
    expect(home.daemon().options).toMatchObject(kept);
    expect(await home.ok(["service", "install", "--print"])).toContain(`"--public-url" "https://box.example"`);
    const findings = await home.cli(["doctor", "--json"]);
    const access = (JSON.parse(findings.stdout) as FindingJson[]).filter(({ check }) => check === "access");
    expect(access).toMatchObject([
      { level: "ok", message: expect.stringContaining("as https://box.example") as string },
    ]);
    renameSync(key, `${key}.away`);
    const { pid } = home.daemon();
    const broken = await home.cli(["restart"]);
    expect([broken.code, broken.stderr]).toEqual([1, expect.stringContaining("holdfast start --tls-cert none")]);
    expect(home.daemon().pid).toBe(pid);
    await home.ok(["stop"]);
    await home.ok(["start", "--port", "0", "--public-url", "none", "--tls-cert", "none"]);
    expect(home.daemon().options).toMatchObject({ publicUrls: [], tlsCert: null, tlsKey: null });
  } finally {
    other.close();
  }
});

test("[REMOTE-7, REMOTE-9, REMOTE-10] a weak passphrase is refused, the same one changes nothing, a new one logs out browsers", async () => {
  await using service = await PushService.open();
  await using home = await ChatHome.open();
  await home.call("pushSubscribe", "", { body: service.browser("phone").subscription() });
  const browsers = async (): Promise<number> => (await home.call("push", "")).browsers.length;
  const file = join(home.directory, "secret");
  const again = (words: string) => {
    writeFileSync(file, `${words}\n`);
    return home.cli(["start", "--host", "0.0.0.0", "--port", "0", "--passphrase-file", file]);
  };
  await home.ok(["stop"]);
  const weak = await again("hunter2");
  expect([weak.code, weak.stderr]).toEqual([2, expect.stringContaining("holdfast passphrase --file")]);
  const words = (await home.ok(["passphrase"])).trim();
  const first = await again(words);
  expect(first.stderr).toContain("Warning: Listening on 0.0.0.0 without TLS");
  expect(await browsers()).toBe(1);
  await home.ok(["stop"]);
  expect((await again(words)).code).toBe(0);
  expect(await browsers()).toBe(1);
  await home.ok(["restart"]);
  expect(await browsers()).toBe(1);
  await home.ok(["stop"]);
  expect((await again("another phrase, quite different")).code).toBe(0);
  expect(await browsers()).toBe(0);
});
