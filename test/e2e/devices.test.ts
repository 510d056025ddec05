import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TestDevice } from "../../src/server/device.fixture.ts";
import type { Output } from "../../src/contract/operations.ts";
import type { DeviceJson } from "../../src/contract/device.ts";
import { ChatHome } from "../harness/chat.ts";
import { Listener } from "../harness/listener.ts";
import { until } from "../harness/until.ts";
import { PushService } from "../push/push-service.ts";

async function challenge(url: string): Promise<Output<"challenge">> {
  return (await (await fetch(`${url}/api/challenge`)).json()) as Output<"challenge">;
}

test("[DEVICE-6, DEVICE-10, DEVICE-11] a device is announced, limited and revoked, its pushes with it; a new passphrase logs out the others", async () => {
  await using service = await PushService.open();
  await using listener = new Listener();
  await using home = await ChatHome.open();
  writeFileSync(home.paths.config, JSON.stringify({ notify: { webhook: await listener.listen() } }));
  const secret = join(home.directory, "secret");
  const start = async (words: string): Promise<string> => {
    writeFileSync(secret, `${words}\n`, { mode: 0o600 });
    await home.ok(["stop"]);
    await home.ok(["start", "--port", "0", "--passphrase-file", secret]);
    return home.daemon().url;
  };
  const url = await start("seven lamps above a quiet harbor");

  const pair = async (args: string[]): Promise<TestDevice> => {
    const device = new TestDevice(url);
    const link = (await home.json<{ url: string }>(["pair", ...args])).url;
    const { nonce } = await challenge(url);
    const body = JSON.stringify(device.byCode(link.split("#login=")[1]!, nonce));
    const headers = { "content-type": "application/json", origin: url };
    expect((await fetch(`${url}/api/login`, { method: "POST", headers, body })).status).toBe(200);
    device.nonce = (await challenge(url)).nonce;
    return device;
  };
  const ask = (device: TestDevice, method: string, path: string, json?: unknown): Promise<Response> => {
    const body = json === undefined ? "" : JSON.stringify(json);
    const headers = { authorization: device.header(method, path, body), "content-type": "application/json" };
    return fetch(`${url}${path}`, { method, headers, ...(json === undefined ? {} : { body }) });
  };

  const desk = await pair([]);
  expect(listener.told).toEqual([]);
  const lost = await pair(["--name", "Lost phone", "--rights", "answer"]);
  await until("the announcement", () => listener.told.length === 1);
  expect(listener.told[0]).toMatchObject({
    title: "New device logged in",
    text: `Lost phone logged in from 127.0.0.1 and may watch, prompt and answer. If that was not you, revoke it: holdfast device revoke ${lost.id}`,
    why: "device",
  });
  expect((await ask(lost, "POST", "/api/cleanup", {})).status).toBe(403);

  // Each device has its own push subscription, which is removed with it.
  for (const [device, name] of [
    [desk, "desk"],
    [lost, "lost"],
  ] as const) {
    expect((await ask(device, "POST", "/api/push", service.browser(name).subscription(name))).status).toBe(200);
  }
  const { browsers } = await home.call("push", "");
  const ofDesk = browsers.find(({ label }) => label === "desk")!;
  expect(ofDesk.device).toBe(desk.id);
  expect((await ask(lost, "DELETE", `/api/push/${ofDesk.id}`)).status).toBe(403);
  await home.ok(["device", "revoke", "Lost phone"]);
  expect((await ask(lost, "GET", "/api/info")).status).toBe(401);
  expect((await home.call("push", "")).browsers.map(({ label }) => label)).toEqual(["desk"]);

  await start("seven lamps above a quiet harbor");
  expect((await home.json<DeviceJson[]>(["device", "ls"])).map(({ id }) => id)).toEqual([desk.id]);
  await start("nine boats below a loud bridge");
  expect(await home.json<DeviceJson[]>(["device", "ls"])).toEqual([]);
  expect((await home.call("push", "")).browsers).toEqual([]);
});
