import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ChatHome } from "../harness/chat.ts";
import { until } from "../harness/until.ts";
import { expectAccessible, lineDown, openDashboard, openTab, logIn, useBrowser } from "./browser.ts";

useBrowser();
const noLine = "No connection to the daemon";

test("[WEB-11] a daemon restart under an open page shows a banner, then continues without loss", async () => {
  await using home = await ChatHome.open();
  const port = await home.keepPort();
  const id = await home.chat("say: begun\ngate: a\nslow: 40 x 25ms\nsay: the end");
  await home.says(id, "begun");
  await using tab = await openDashboard(home, { expected: lineDown });
  const { page } = tab;
  const card = page.getByRole("article", { name: id });
  await card.waitFor();
  await page.getByLabel("Search sessions").fill(id);
  await home.crash();
  home.openGate("a");
  await page.getByText(noLine).waitFor();
  await card.waitFor();
  await expectAccessible(page);
  await home.ok(["start", "--port", port]);
  await page.getByText(noLine).waitFor({ state: "hidden" });
  await page.getByRole("region", { name: /^Idle/ }).getByRole("article", { name: id }).waitFor();
  expect(await page.getByLabel("Search sessions").inputValue()).toBe(id);
  expect(await home.said(id)).toContain("the end");
});

test("[WEB-13, WEB-23] offline the page keeps its state and opens again from the service worker; the API is never touched", async () => {
  await using home = await ChatHome.open();
  const port = await home.keepPort();
  const id = await home.chat("say: hello");
  await home.ended(id);
  await using tab = await openDashboard(home, { expected: lineDown });
  const { page, context } = tab;
  await page.getByRole("article", { name: id }).waitFor();
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  // Again, so that the worker has seen every file of the page.
  await page.reload();
  await page.getByRole("article", { name: id }).waitFor();
  await context.setOffline(true);
  await home.crash();
  await page.getByText("This device is offline").waitFor();
  await page.getByRole("article", { name: id }).waitFor();
  await page.reload();
  await page.getByRole("banner").waitFor();
  await page.getByText("This device is offline").waitFor();
  await page.getByRole("article", { name: id }).waitFor();
  const kept = await page.evaluate(async () => {
    const names = await caches.keys();
    const keys = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
    return keys.flat().map(({ url }) => new URL(url).pathname);
  });
  expect(kept).toContain("/");
  expect(kept.filter((path) => path !== "/" && !path.startsWith("/assets/"))).toEqual([]);
  await home.ok(["start", "--port", port]);
  await context.setOffline(false);
  await page.getByRole("article", { name: id }).waitFor();
  await page.getByText("This device is offline").waitFor({ state: "hidden" });
});

test("[WEB-23] the page can be installed: manifest, icons of the promised sizes", async () => {
  await using home = await ChatHome.open();
  await using tab = await openDashboard(home);
  const { page } = tab;
  const client = await tab.context.newCDPSession(page);
  const { errors, data } = (await client.send("Page.getAppManifest")) as { errors: unknown[]; data?: string };
  expect(errors).toEqual([]);
  const { icons } = JSON.parse(data!) as { icons: { src: string; sizes: string }[] };
  for (const { src, sizes } of icons) {
    if (sizes === "any") continue;
    const size = await page.evaluate(async (address) => {
      const image = new Image();
      image.src = address;
      await image.decode();
      return `${image.naturalWidth}x${image.naturalHeight}`;
    }, src);
    expect(size).toBe(sizes);
  }
});

test("[WEB-12, WEB-25] a daemon of another build and a view with missing code are shown", async () => {
  await using home = await ChatHome.open();
  await using tab = await openTab({
    serviceWorkers: "block",
    expected: /404|Failed to fetch dynamically|MIME|error occurred in/,
  });
  const { page } = tab;
  await page.routeWebSocket(/\/api\/stream/, (socket) => {
    const server = socket.connectToServer();
    server.onMessage((message) => socket.send(String(message).replace(/"build":"[^"]*"/, '"build":"9.9.9+new"')));
  });
  await page.route(/\/assets\/settings-.*\.js/, (route) => route.fulfill({ status: 404, body: "" }));
  await logIn(page, home);
  await page.getByText("The daemon was updated to version").waitFor();
  await page.getByRole("link", { name: "Settings" }).first().click();
  const alert = page.getByRole("alert").filter({ hasText: "could not be loaded" });
  await alert.getByRole("button", { name: "Reload" }).waitFor();
  await page.getByRole("link", { name: "Holdfast" }).click();
  await page.getByRole("heading", { name: "No sessions yet" }).waitFor();
  await page.unroute(/\/assets\/settings-.*\.js/);
  // The page being left has the same heading.
  const reloaded = page.waitForEvent("load");
  await page.getByRole("button", { name: "Reload" }).click();
  await reloaded;
  await page.getByRole("heading", { name: "No sessions yet" }).waitFor();
  expect(await page.getByRole("alert").count()).toBe(0);
});

test("[WEB-16, WEB-29, WEB-24] settings: projects, agents, doctor, chat agents, about; and the trash", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: hello");
  await home.ended(id);
  const other = await home.repository("second-app");
  const killed = await home.chat("edit: notes.md not committed");
  await home.ended(killed);
  const { workspacePath } = await home.show(killed);
  await home.call("kill", killed, { body: {} });
  await using tab = await openDashboard(home, { path: "/settings", expected: /status of 4\d\d/ });
  const { page } = tab;
  const section = (name: string) => page.getByRole("region", { name, exact: true });
  await section("Agents").getByText("Claude Code").waitFor();
  await section("About").getByText(home.home).waitFor();
  await section("Doctor").getByRole("listitem").first().waitFor();
  await expectAccessible(page);
  await page.getByLabel("Dark").check();
  await expectAccessible(page);

  await page.getByLabel("Repository path").fill("/nowhere/at/all");
  await page.getByRole("button", { name: "Add" }).click();
  await section("Projects")
    .getByText(/nowhere/)
    .waitFor();
  await page.getByLabel("Repository path").fill(other);
  await page.getByRole("button", { name: "Add" }).click();
  await page.getByRole("button", { name: "Remove second-app" }).click();
  const dialog = page.getByRole("dialog", { name: "Remove second-app?" });
  await dialog.getByText("stay unchanged").waitFor();
  await dialog.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("button", { name: "Remove second-app" }).waitFor({ state: "hidden" });

  const before = await home.pidOf(id, "agent");
  await page.getByRole("button", { name: `Restart ${id}` }).click();
  await page.getByText(`${id} restarted.`).waitFor();
  expect(await home.pidOf(id, "agent")).not.toBe(before);

  await page.getByRole("link", { name: "Trash" }).click();
  await page.getByText("1 uncommitted file").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: `Restore ${killed}` }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Restore" }).click();
  await page.getByText("The trash is empty.").waitFor();
  await home.status(killed, "idle");
  await home.call("delete", killed, { body: {} });
  await page.getByRole("button", { name: `Restore files of ${killed}` }).click();
  await page.getByText("The trash is empty.").waitFor();
  expect(readFileSync(join(workspacePath, "notes.md"), "utf8")).toBe("not committed\n");

  await home.call("kill", id, { body: {} });
  await page.getByRole("button", { name: "Empty trash" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Keep" }).click();
  await page.getByRole("button", { name: "Empty trash" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete permanently" }).click();
  await page.getByText("The trash is empty.").waitFor();
});

test("[WEB-22] two hidden tabs notify once, and a click opens the session", async () => {
  await using home = await ChatHome.open();
  await using tab = await openDashboard(home, { permissions: ["notifications"], path: "/settings" });
  const { page, context } = tab;
  await page.getByRole("button", { name: "Turn on notifications" }).click();
  await page.getByRole("button", { name: "Turn off notifications" }).waitFor();
  expect(await page.getByLabel(/Play a sound/).isChecked()).toBe(false);
  await context.addInitScript(() => {
    // A headless browser cannot show one, and its tabs are never hidden.
    const shown: { title: string; options: NotificationOptions; click: () => void }[] = [];
    class Recorder extends EventTarget {
      static permission = "granted";
      constructor(title: string, options: NotificationOptions) {
        super();
        shown.push({ title, options, click: () => this.dispatchEvent(new Event("click")) });
      }
      close(): void {}
    }
    Object.assign(window, { Notification: Recorder, shown });
    let state = "visible";
    Object.defineProperty(document, "visibilityState", { get: () => state });
    Object.assign(window, {
      look: (next: string) => {
        state = next;
        document.dispatchEvent(new Event("visibilitychange"));
      },
    });
  });
  interface Played {
    shown: { title: string; options: NotificationOptions; click: () => void }[];
    look: (state: string) => void;
  }
  const other = await context.newPage();
  const pages = [page, other];
  for (const one of pages) {
    await one.goto(new URL("/", page.url()).href);
    await one.getByRole("heading", { name: "No sessions yet" }).waitFor();
  }
  const titles = async (): Promise<string[]> =>
    (
      await Promise.all(
        pages.map((one) => one.evaluate(() => (window as unknown as Played).shown.map(({ title }) => title))),
      )
    ).flat();

  const seen = await home.chat("ask: while you look");
  await page.getByRole("article", { name: seen }).waitFor();
  await until("the count", async () => (await other.title()).startsWith("(1)"));
  const icon = () => page.evaluate(() => document.querySelector<HTMLLinkElement>("link[rel=icon]")!.href);
  await until("the count on the icon", async () => (await icon()).includes("data:image/svg+xml"));
  const said = () => page.locator("[aria-live=polite]").allTextContents();
  await until("the text for a screen reader", async () => (await said()).includes(`${seen}: Asks: while you look`));
  expect(await titles()).toEqual([]);

  for (const one of pages) await one.evaluate(() => (window as unknown as Played).look("hidden"));
  const unseen = await home.chat("ask: while you are away");
  await until("a notification", async () => (await titles()).length === 1);
  const spoke = (await page.evaluate(() => (window as unknown as Played).shown.length)) === 1 ? page : other;
  expect(await spoke.evaluate(() => (window as unknown as Played).shown[0]!.options.body)).toContain(
    "while you are away",
  );
  await spoke.evaluate(() => (window as unknown as Played).shown[0]!.click());
  await spoke.waitForURL(`**/s/${unseen}`);
  await home.answer(seen);
  await home.answer(unseen);
  await until("the icon without a count", async () => (await icon()).endsWith("/icon.svg"));
});
