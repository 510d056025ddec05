/**
 * A user at a browser: one chromium per test file, contexts that watch for errors, and the login by the printed
 * link. An error (console error, uncaught error, violation of the content policy) fails the test that caused it.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions } from "playwright-core";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, vi } from "vitest";
import type { Home } from "../harness/home.ts";
import { until } from "../harness/until.ts";

export const desktop = { width: 1440, height: 900 };
export const phone = { width: 390, height: 844 };
/** What a loaded two-core machine may need for one step. */
const stepMs = 20_000;
/** And for a test of dozens of steps: no test may time out during a step that still has time. */
const testMs = 150_000;

let browser: Browser;

/** Call once, at the top of a test file. */
export function useBrowser(more: () => string[] = () => []): void {
  vi.setConfig({ testTimeout: testMs });
  beforeAll(async () => {
    browser = await launchBrowser(more());
  });
  afterAll(() => browser.close());
}

export function launchBrowser(more: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      ...more,
    ],
  });
}

export interface Tab extends AsyncDisposable {
  page: Page;
  context: BrowserContext;
  /** The browser's errors so far. */
  complaints: string[];
}

export interface TabOptions extends BrowserContextOptions {
  /** Errors that the test provokes, such as a lost connection. */
  expected?: RegExp;
}

/** A separate browser, not logged in. When it is closed, its errors fail the test. */
export async function openTab(options: TabOptions = {}): Promise<Tab> {
  const { expected, ...rest } = options;
  const touch = (rest.viewport?.width ?? desktop.width) < 600 ? { hasTouch: true, isMobile: true } : {};
  const context = await browser.newContext({ viewport: desktop, ...touch, ...rest });
  context.setDefaultTimeout(stepMs);
  const complaints: string[] = [];
  const page = await context.newPage();
  watch(page, complaints);
  context.on("page", (other) => watch(other, complaints));
  return {
    page,
    context,
    complaints,
    async [Symbol.asyncDispose]() {
      await context.close();
      expect(complaints.filter((text) => expected?.test(text) !== true)).toEqual([]);
    },
  };
}

function watch(page: Page, complaints: string[]): void {
  // Violations of the content policy are console errors too.
  page.on("console", (message) => void (message.type() === "error" && complaints.push(message.text())));
  page.on("pageerror", (error) => void complaints.push(error.message));
}

export async function loginLink(home: Home): Promise<string> {
  return (await home.ok(["dashboard", "--no-open"])).trim().split("\n").at(-1)!;
}

/** Opens the printed link, and then the given address. */
export async function logIn(page: Page, home: Home, path = "/"): Promise<void> {
  await page.goto(await loginLink(home));
  await page.getByRole("banner").waitFor();
  if (path !== "/") await page.goto(new URL(path, page.url()).href);
}

/** A logged-in browser. */
export async function openDashboard(home: Home, options: TabOptions & { path?: string } = {}): Promise<Tab> {
  const { path, ...rest } = options;
  const tab = await openTab(rest);
  await logIn(tab.page, home, path);
  return tab;
}

/** The daemon was killed under the page: its requests fail, also that for the service worker, and the browser logs it. */
export const lineDown =
  /ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_INTERNET_DISCONNECTED|WebSocket connection|ERR_EMPTY_RESPONSE|ERR_FAILED|ERR_SOCKET_NOT_CONNECTED|^An unknown error occurred when fetching the script\.$/;

let axe: string | undefined;

/** Finds problems for screen readers, keyboards and tired eyes. */
export async function expectAccessible(page: Page): Promise<void> {
  axe ??= readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  // By the debugger's evaluate, which bypasses the content policy.
  await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    // During the transition between color schemes, contrast is not meaningful.
    for (const animation of document.getAnimations()) if (animation instanceof CSSTransition) animation.finish();
    const { axe } = window as unknown as { axe: { run(options: object): Promise<{ violations: Violation[] }> } };
    interface Violation {
      id: string;
      help: string;
      nodes: { html: string; failureSummary?: string }[];
    }
    const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"];
    const { violations } = await axe.run({ runOnly: { type: "tag", values: tags } });
    return violations.map(
      ({ id, help, nodes }) =>
        `${id}: ${help}: ${nodes.map((node) => `${node.html} ${node.failureSummary}`).join(" | ")}`,
    );
  });
  expect(found).toEqual([]);
}

/** This many frames without movement mean that it rests: rows get their height within two or three. */
const restFrames = 10;

/**
 * The position of a scrolled element once it rests. Wait for it before pressing something inside: while the page places
 * rows and the driver scrolls to its target, each undoes the other, and the press misses.
 */
export function standsStill(scrolled: Locator): Promise<number> {
  const place = (frames: number) =>
    scrolled.evaluate(async (node, count) => {
      const top = node.scrollTop;
      const height = node.scrollHeight;
      for (let frame = 0; frame < count; frame++) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        await new Promise((next) => requestAnimationFrame(next));
        if (node.scrollTop !== top || node.scrollHeight !== height) return null;
      }
      return top;
    }, frames);
  return until("the scrolling to be over", () => place(restFrames));
}

/** Nothing may be wider than the screen. */
export async function expectNoSideways(page: Page): Promise<void> {
  const [wide, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  expect(wide).toBeLessThanOrEqual(screen);
}
