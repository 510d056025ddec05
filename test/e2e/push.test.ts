import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SocketTransport } from "../../src/cli/system/daemon/socket-transport.ts";
import { createClient } from "../../src/client/client.ts";
import type { FindingJson } from "../../src/contract/daemon.ts";
import { ChatHome } from "../harness/chat.ts";
import { until } from "../harness/until.ts";
import { checkVapid, PushService } from "../push/push-service.ts";

test("[NOTIFY-5, NOTIFY-6, NOTIFY-8, NOTIFY-12] an agent's permission request reaches the subscribed browser: signed, encrypted, recorded, and in no log", async () => {
  await using service = await PushService.open();
  await using home = await ChatHome.open();
  const before = await home.chat("ask: nobody subscribed");
  await until("a notification", async () => (await home.ofType(before, "notification")).length > 0);
  expect(await home.ofType(before, "notification")).toMatchObject([{ channels: [] }]);
  expect(existsSync(home.paths.push)).toBe(false);

  const browser = service.browser("a");
  const body = { ...browser.subscription("Firefox on Linux"), origin: "https://box.example.net" };
  const url = `${home.daemon().url}/api/push`;
  const headers = { "content-type": "application/json" };
  expect((await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })).status).toBe(401);
  const identity = { "holdfast-actor": `session:${before}` };
  const agent = createClient({ transport: new SocketTransport(home.paths.socket), identity });
  await expect(agent.call("push")).rejects.toThrow("Only the user may do this");

  const { publicKey } = await home.call("push", "");
  const { id: name } = await home.call("pushSubscribe", "", { body });
  expect(statSync(home.paths.push).mode & 0o777).toBe(0o600);
  // The next daemon finds what the home stores.
  await home.crash();
  await home.ok(["start"]);
  const id = await home.chat("ask: may I go on");
  await until("the push", () => browser.received().length === 1);
  const claims = checkVapid(browser.received()[0]?.headers.authorization, publicKey);
  expect(claims).toMatchObject({ aud: service.origin, sub: "https://box.example.net" });
  expect(claims.exp * 1000).toBeGreaterThan(Date.now());
  expect(browser.read()).toEqual([
    { title: `${id}: needs you`, text: expect.stringContaining("may I go on"), session: id },
  ]);
  await until("that to be recorded", async () => (await home.ofType(id, "notification.sent")).length === 1);
  expect(await home.ofType(id, "notification")).toMatchObject([{ channels: ["push"] }]);
  expect(await home.ofType(id, "notification.sent")).toMatchObject([{ failed: [] }]);

  const listed = await home.call("push", "");
  expect(listed).toMatchObject({ publicKey, browsers: [{ id: name, label: "Firefox on Linux", failure: null }] });
  expect(await home.call("pushTest", name, { body: {} })).toEqual({ sent: true, why: null });
  const said = [JSON.stringify([listed, await home.events(id)])];
  for (const file of readdirSync(home.paths.logs)) said.push(readFileSync(join(home.paths.logs, file), "utf8"));
  expect(said.join("\n")).toContain("browser subscribed to push");
  expect(said.join("\n")).not.toContain(browser.path);
  await home.call("logout", "", { body: { all: true } });
  expect((await home.call("push", "")).browsers).toEqual([]);
});

test("[NOTIFY-8, NOTIFY-10, NOTIFY-13] a push service that is down or silent changes nothing else; doctor reports it; 410 removes the subscription", async () => {
  await using service = await PushService.open();
  await using home = await ChatHome.open();
  const [down, silent, gone] = [service.browser("down"), service.browser("silent"), service.browser("gone")];
  service.answer = (path) => ({
    status: path === gone.path ? 410 : 503,
    headers: { "retry-after": "600" },
    silent: path === silent.path,
  });
  await home.call("pushSubscribe", "", { body: down.subscription("Work laptop") });
  const { id: hanging } = await home.call("pushSubscribe", "", { body: silent.subscription("Silent") });
  await home.call("pushSubscribe", "", { body: gone.subscription("Old phone") });
  const id = await home.chat("ask: may I go on");
  await until("all to be asked", () => service.received.length === 3);
  // One of them is still pending.
  await home.answer(id);
  await home.ended(id);
  const other = await home.chat("say: still here");
  await home.ended(other);
  expect(await home.said(other)).toContain("still here");

  const finding = async (level: FindingJson["level"], words: RegExp): Promise<boolean> =>
    (await home.call("doctor", "")).some((one) => one.level === level && words.test(one.message));
  const failed = /^The last push to Work laptop by 127\.0\.0\.1 failed at .* status 503\. Nothing else/;
  await until("the failure to be reported", () => finding("warn", failed));
  await until("the end to be reported", () => finding("info", /^Old phone is no longer subscribed/));
  const { browsers } = await home.call("push", "");
  expect(browsers.map(({ label }) => label)).toEqual(["Work laptop", "Silent"]);
  await home.call("pushRemove", hanging);
  await expect(home.call("pushRemove", hanging)).rejects.toThrow("is subscribed");
  // It requested a pause of ten minutes.
  const next = await home.chat("ask: another one");
  await until("that to be recorded", async () => (await home.ofType(next, "notification.sent")).length === 1);
  expect(await home.ofType(next, "notification.sent")).toMatchObject([
    { failed: [{ channel: "push", why: expect.stringContaining("retrying after") }] },
  ]);
  expect(down.received()).toHaveLength(1);
});
