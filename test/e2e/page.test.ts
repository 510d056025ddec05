import { chromium, type Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Home } from "../harness/home.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
});
afterAll(() => browser.close());

test("[PAGE-1] the printed link logs a browser in once, and the page follows the sessions", async () => {
  await using home = new Home();
  await home.ok(["start", "--port", "0"]);
  const link = (await home.ok(["dashboard", "--no-open"])).trim().split("\n").at(-1)!;
  const context = await browser.newContext();
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => void (message.type() === "error" && complaints.push(message.text())));
  page.on("pageerror", (error) => void complaints.push(error.message));
  await page.goto(link);
  await page.getByText("Connected, version").waitFor();
  await page.getByText("No sessions yet.").waitFor();
  expect(page.url()).not.toContain("login");

  await page.reload();
  await page.getByText("Connected, version").waitFor();
  expect(complaints).toEqual([]);

  const stranger = await (await browser.newContext()).newPage();
  await stranger.goto(link);
  await stranger.getByRole("alert").waitFor();
  expect(await stranger.getByRole("alert").textContent()).toMatch(/used|expired|not valid/i);

  await home.ok(["stop"]);
  await page.getByText("Reconnecting …").waitFor();
  await home.ok(["start"]);
});
