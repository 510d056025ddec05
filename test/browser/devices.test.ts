import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { DeviceJson } from "../../src/contract/device.ts";
import { ChatHome } from "../harness/chat.ts";
import { replay, Squatter } from "../harness/squatter.ts";
import { until } from "../harness/until.ts";
import {
  expectAccessible,
  expectNoSideways,
  lineDown,
  loginLink,
  openDashboard,
  openTab,
  phone,
  useBrowser,
} from "./browser.ts";

useBrowser();
const noLine = "No connection to the daemon";
const refused = /status of 40[13]|WebSocket connection/;
const section = (page: Page) => page.getByRole("region", { name: "Devices", exact: true });

/** What a program that reads this browser's storage would find. */
const keptIn = (page: Page) =>
  page.evaluate(async () => {
    const key = await new Promise<unknown>((resolve, reject) => {
      const opening = indexedDB.open("holdfast", 1);
      opening.addEventListener("upgradeneeded", () => void opening.result.createObjectStore("device"));
      opening.addEventListener("error", () => reject(new Error("not opened")));
      opening.addEventListener("success", () => {
        const reading = opening.result.transaction("device").objectStore("device").get("key");
        reading.addEventListener("success", () => {
          opening.result.close();
          resolve(reading.result);
        });
      });
    });
    const exported = async () =>
      crypto.subtle.exportKey("jwk", (key as { privateKey: CryptoKey }).privateKey).then(
        () => "exported",
        (error: Error) => error.name,
      );
    const names = Object.keys(localStorage).filter((name) => name.startsWith("holdfast:"));
    return { key: key === undefined ? null : await exported(), names, caches: await caches.keys() };
  });

test("[DEVICE-1, DEVICE-4, DEVICE-17] a program on the daemon's port learns nothing it could use, then or later", async () => {
  await using home = await ChatHome.open();
  const port = Number(await home.keepPort());
  const id = await home.chat("say: hello");
  await home.ended(id);
  const expected = new RegExp(`${lineDown.source}|status of 40[0-9]|is not valid JSON`);
  await using tab = await openDashboard(home, { expected, path: `/s/${id}` });
  const { page } = tab;
  await page.getByRole("log").getByText("hello", { exact: true }).waitFor();
  // A second tab of the same browser has its own challenge: the two do not interfere.
  const second = await tab.context.newPage();
  await second.goto(new URL("/", page.url()).href);
  await second.getByRole("article", { name: id }).waitFor();
  // The page itself cannot read the key, and nothing else in storage grants access.
  expect((await keptIn(page)).key).toBe("InvalidAccessError");

  await home.ok(["stop"]);
  const seen = await (async () => {
    await using squatter = await Squatter.on(port);
    // As when a laptop wakes up: the page retries immediately instead of after its pause.
    const tryNow = () =>
      Promise.all([page, second].map((each) => each.evaluate(() => dispatchEvent(new Event("online")))));
    const proved = async (): Promise<boolean> => tryNow().then(() => squatter.signed().length >= 4);
    await until("the page to prove itself to the squatter", proved, 60_000);
    // The daemon is back on another port, and the squatter forwards everything to it.
    const before = squatter.seen.length;
    await home.ok(["start", "--port", "0"]);
    squatter.relayTo = Number(new URL(home.daemon().url).port);
    const relayed = () =>
      squatter.signed().filter((each) => squatter.seen.indexOf(each) >= before && each.relayed !== null);
    await until("signed requests to be relayed", async () => tryNow().then(() => relayed().length >= 4), 60_000);
    expect(new Set(relayed().map(({ relayed: status }) => status))).toEqual(new Set([401]));
    await home.ok(["stop"]);
    return squatter.seen;
  })();

  await home.ok(["start", "--port", String(port)]);
  await page.getByText(noLine).waitFor({ state: "hidden" });
  await second.getByText(noLine).waitFor({ state: "hidden" });
  const open = ["/api/challenge", "/api/health"];
  const asked = seen.filter(({ url }) => url.startsWith("/api") && !open.includes(url));
  const accepted: string[] = [];
  for (const each of asked) {
    const { status } = await replay(each, port);
    if (status < 400) accepted.push(`${each.method} ${each.url}: ${status}`);
  }
  console.log(`squatter: ${seen.length} requests seen, ${asked.length} replayed, ${accepted.length} accepted`);
  expect(accepted).toEqual([]);
  expect(asked.length).toBeGreaterThan(8);
  // The page continued on its own.
  await home.turn(id, "say: still here");
  await page.getByRole("log").getByText("still here", { exact: true }).waitFor();
});

test("[DEVICE-15] a logout or revocation clears the browser, in all its tabs", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: a secret plan");
  await home.ended(id);
  await using tab = await openDashboard(home, { path: `/s/${id}`, expected: refused });
  const { page } = tab;
  const fill = async (from: Page): Promise<void> => {
    await from.getByRole("log").getByText("a secret plan", { exact: true }).waitFor();
    await from.getByRole("textbox", { name: "Prompt" }).fill("half a thought");
    await until("something to be kept", async () => (await keptIn(from)).names.some((name) => name.includes("draft")));
    await from.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  };
  await fill(page);
  const settings = await tab.context.newPage();
  await settings.goto(new URL("/settings", page.url()).href);
  await section(settings).getByRole("button", { name: "Log out", exact: true }).click();
  for (const each of [settings, page]) await each.getByText("This browser is logged out.").waitFor();
  const gone = async (): Promise<boolean> =>
    JSON.stringify(await keptIn(page)) === JSON.stringify({ key: null, names: [], caches: [] });
  await until("everything to be gone", gone);
  expect(await home.json<DeviceJson[]>(["device", "ls"])).toEqual([]);

  // Revoked while the browser was offline: noticed when it reconnects.
  await settings.close();
  await page.goto(await loginLink(home));
  await page.getByRole("article", { name: id }).waitFor();
  await page.goto(new URL(`/s/${id}`, page.url()).href);
  await fill(page);
  // A tab that was suspended reports the earlier logout: this login is a different one, and stays.
  const late = await tab.context.newPage();
  await late.goto(new URL("/trash", page.url()).href);
  await late.getByRole("heading", { name: "Trash", exact: true }).waitFor();
  await late.evaluate(() => {
    const message = { loggedOut: "long ago", device: "0000000000000000", asked: true };
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has one origin
    new BroadcastChannel("holdfast").postMessage(message);
  });
  await page.reload();
  await page.getByRole("log").getByText("a secret plan", { exact: true }).waitFor();
  expect((await keptIn(page)).key).toBe("InvalidAccessError");
  await late.close();
  await page.goto("about:blank");
  await home.ok(["device", "revoke", "--all"]);
  await page.goto(home.daemon().url);
  await page.getByRole("alert").filter({ hasText: "expired or was revoked" }).waitFor();
  await until("everything to be gone again", gone);
});

test("[DEVICE-9, DEVICE-10, DEVICE-11] devices are announced, listed, renamed, limited and revoked in the page", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: hello");
  await home.ended(id);
  await using desk = await openDashboard(home, { path: "/settings" });
  await section(desk.page).getByText("this device").waitFor();
  const link = (await home.json<{ url: string }>(["pair", "--name", "My phone"])).url;
  await using other = await openTab({ viewport: phone, expected: refused });
  await other.page.goto(link);
  await other.page.getByRole("article", { name: id }).waitFor();
  await desk.page.getByRole("alert").filter({ hasText: "New device: My phone logged in from 127.0.0.1" }).waitFor();
  const row = section(desk.page).getByRole("listitem").filter({ hasText: "My phone" });
  await row.getByText("Last seen").waitFor();
  await expectAccessible(desk.page);
  await row.getByRole("button", { name: "Rename My phone" }).click();
  await section(desk.page).getByLabel("Device name").fill("Pocket");
  await desk.page.keyboard.press("Enter");
  const renamed = section(desk.page).getByRole("listitem").filter({ hasText: "Pocket" });
  await renamed.waitFor();
  expect((await home.json<DeviceJson[]>(["device", "ls"])).map(({ name }) => name).toSorted()).toEqual([
    "Chrome on Linux",
    "Pocket",
  ]);

  await other.page.getByRole("link", { name: "New" }).waitFor();
  await renamed.getByLabel("Rights of Pocket").selectOption("watch");
  await other.page.getByRole("link", { name: "New" }).waitFor({ state: "hidden" });
  await other.page.goto(new URL(`/s/${id}`, other.page.url()).href);
  await other.page.getByPlaceholder("This device may only watch").waitFor();
  await other.page.goto(new URL("/settings", other.page.url()).href);
  await section(other.page).getByText("this device").waitFor();
  const changing = section(other.page).getByRole("button", { name: /Revoke|Rename|everywhere/ });
  await until("its rights to be known", async () => (await changing.count()) === 0);
  await expectNoSideways(other.page);

  await renamed.getByRole("button", { name: "Revoke Pocket" }).click();
  await other.page.getByRole("alert").filter({ hasText: "expired or was revoked" }).waitFor();
  await renamed.waitFor({ state: "hidden" });
});

test("[DEVICE-14] dashboard opens a file that only you can read; no command line contains the link", async () => {
  await using home = await ChatHome.open();
  const bin = join(home.directory, "bin");
  const noted = join(home.directory, "opened");
  await home.run("mkdir", [bin]);
  writeFileSync(join(bin, "xdg-open"), `#!/bin/sh\nprintf '%s\\n' "$@" > ${noted}.new && mv ${noted}.new ${noted}\n`);
  chmodSync(join(bin, "xdg-open"), 0o755);
  const env = { PATH: `${bin}:${home.env["PATH"]}`, DISPLAY: ":9" };
  const printed = (await home.ok(["dashboard"], { env })).trim();
  const file = await until("xdg-open to be called", () => existsSync(noted) && readFileSync(noted, "utf8").trim());
  expect(file).toMatch(/^file:\/\/\/.*\.html$/);
  const secret = printed.split("#login=")[1]!;
  expect(file).not.toContain(secret.split(".")[1]);
  const path = fileURLToPath(file);
  expect(readFileSync(path, "utf8")).toContain(printed);
  await using tab = await openTab();
  await tab.page.goto(file);
  await tab.page.getByRole("heading", { name: "No sessions yet" }).waitFor();
  expect(existsSync(path)).toBe(false);
});

test("[DEVICE-16] over plain HTTP from another machine the page shows what to do, and asks for no secret", async () => {
  await using home = await ChatHome.open();
  await using tab = await openTab({ viewport: phone });
  await tab.context.addInitScript(() => Object.defineProperty(window, "isSecureContext", { value: false }));
  const sent: string[] = [];
  tab.page.on("request", (request) => void (request.url().includes("/api/") && sent.push(request.url())));
  await tab.page.goto(await loginLink(home));
  await tab.page.getByRole("alert").filter({ hasText: "cannot log in over plain HTTP" }).waitFor();
  await tab.page.getByText(/ssh -L \d+:127\.0\.0\.1:\d+ 127\.0\.0\.1/).waitFor();
  expect(await tab.page.getByLabel("Passphrase").count()).toBe(0);
  expect(sent).toEqual([]);
  await expectAccessible(tab.page);
  await expectNoSideways(tab.page);
});
