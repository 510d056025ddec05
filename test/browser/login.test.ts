import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ChatHome } from "../harness/chat.ts";
import { Home } from "../harness/home.ts";
import { expectAccessible, loginLink, openDashboard, openTab, useBrowser } from "./browser.ts";

useBrowser();
/** The browser's own message about a refused request. */
const refused = /status of 401|status of 403|WebSocket connection/;

test("[DAEMON-29] the printed link logs a browser in once, and the page follows the sessions", async () => {
  await using home = await ChatHome.open();
  const link = await loginLink(home);
  await using tab = await openTab();
  await tab.page.goto(link);
  await tab.page.getByRole("heading", { name: "No sessions yet" }).waitFor();
  expect(tab.page.url()).not.toContain("login");
  const id = await home.chat("say: hello");
  await tab.page.getByRole("article", { name: id }).waitFor();

  await tab.page.reload();
  await tab.page.getByRole("article", { name: id }).waitFor();

  await using stranger = await openTab({ expected: refused });
  await stranger.page.goto(link);
  await stranger.page.getByRole("alert").waitFor();
  // The second user of the link learns that it was already used.
  expect(await stranger.page.getByRole("alert").textContent()).toMatch(/used already: .* by Chrome on Linux/);
  await stranger.page.getByText("holdfast dashboard", { exact: true }).waitFor();
  await expectAccessible(stranger.page);
});

test("[WEB-1] a revoked or unknown device leads to the login page, and to no further requests", async () => {
  await using home = await ChatHome.open();
  await using tab = await openDashboard(home, { expected: refused });
  const { page } = tab;
  await page.getByRole("heading", { name: "No sessions yet" }).waitFor();
  await home.call("logout", "-", { body: { all: true } });
  await page.getByRole("alert").filter({ hasText: "no longer valid" }).waitFor();

  const sockets: string[] = [];
  page.on("websocket", (socket) => sockets.push(socket.url()));
  await page.goto(await loginLink(home));
  await page.getByRole("heading", { name: "No sessions yet" }).waitFor();
  expect(sockets).toHaveLength(1);

  // A token from a build before devices: it is never sent, and the page explains what to do.
  await page.evaluate(() => {
    indexedDB.deleteDatabase("holdfast");
    localStorage.setItem("holdfast:token", "made-up");
  });
  await page.reload();
  await page.getByRole("alert").filter({ hasText: "Logins have changed" }).waitFor();
  expect(await page.evaluate(() => localStorage.getItem("holdfast:token"))).toBeNull();
  const before = sockets.length;
  // Longer than the first pauses between two attempts.
  await page.evaluate(() => new Promise((resume) => setTimeout(resume, 1_500)));
  expect(sockets).toHaveLength(before);
});

test("[WEB-1] a passphrase logs in; a wrong one shows an error", async () => {
  await using home = new Home();
  const file = join(home.directory, "passphrase");
  writeFileSync(file, "open sesame, said the forty\n", { mode: 0o600 });
  await home.ok(["start", "--port", "0", "--auth", "passphrase", "--passphrase-file", file]);
  await using tab = await openTab({ expected: refused });
  const { page } = tab;
  const sent: string[] = [];
  page.on("request", (request) => sent.push(`${request.url()} ${request.postData() ?? ""}`));
  await page.goto(home.daemon().url);
  await page.getByText("not logged in").waitFor();
  await page.getByLabel("Passphrase").fill("open barley");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("alert").filter({ hasText: "Wrong passphrase" }).waitFor();
  await page.getByLabel("Passphrase").fill("open sesame, said the forty");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "No sessions yet" }).waitFor();
  expect(sent.filter((each) => /sesame|barley/.test(decodeURIComponent(each)))).toEqual([]);
});
