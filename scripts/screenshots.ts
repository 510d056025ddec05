/**
 * Screenshots of each view, wide and on a phone, light and dark, into docs/images/. Needs a build and chromium:
 * `npm run build && node scripts/screenshots.ts [directory]`. A further word limits it to the views of that name.
 */
import { mkdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { desktop, launchBrowser, loginLink, phone } from "../test/browser/browser.ts";
import { openDemoBoard, type DemoBoard } from "./demo-board.ts";

const directory = process.argv[2] ?? join(import.meta.dirname, "../docs/images");
const only = process.argv[3] ?? "";
/** Small enough for a repository; text stays sharp. */
const mostBytes = 150_000;

interface View {
  name: string;
  path: string;
  /** The text that must be visible before the screenshot is taken. */
  ready: (page: Page) => Promise<unknown>;
}

const settled = async (page: Page): Promise<unknown> => {
  await page.getByRole("main").getByText("Loading …").first().waitFor({ state: "hidden" });
  return page.waitForLoadState("networkidle");
};

function viewsOf({ chat, terminal, changes }: DemoBoard): View[] {
  return [
    {
      name: "board",
      path: "/",
      ready: (page) => page.getByRole("button", { name: "Allow", exact: true }).first().waitFor(),
    },
    { name: "chat", path: `/s/${chat}`, ready: settled },
    { name: "terminal", path: `/s/${terminal}`, ready: settled },
    { name: "changes", path: `/s/${changes}/changes`, ready: settled },
    { name: "events", path: `/s/${chat}/events`, ready: settled },
    { name: "new-session", path: "/new", ready: settled },
    { name: "settings", path: "/settings", ready: settled },
  ];
}

mkdirSync(directory, { recursive: true });
const board = await openDemoBoard();
const browser = await launchBrowser();
try {
  for (const [width, viewport] of [
    [1440, desktop],
    [390, phone],
  ] as const) {
    const context = await browser.newContext({
      viewport,
      ...(width === 390 ? { hasTouch: true, isMobile: true } : {}),
    });
    const page = await context.newPage();
    await page.goto(await loginLink(board.home));
    await page.getByRole("banner").waitFor();
    for (const view of viewsOf(board)) {
      if (!view.name.includes(only)) continue;
      for (const scheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme: scheme });
        await page.goto(new URL(view.path, page.url()).href);
        await view.ready(page);
        await shoot(page, join(directory, `${view.name}-${width}-${scheme}`));
      }
    }
    await context.close();
  }
} finally {
  await browser.close();
  await board.home[Symbol.asyncDispose]();
}

/** PNG if it is small enough, because it keeps text sharp. */
async function shoot(page: Page, base: string): Promise<void> {
  const options = { animations: "disabled", caret: "hide" } as const;
  let path = `${base}.png`;
  await page.screenshot({ path, ...options });
  if (statSync(path).size > mostBytes) {
    rmSync(path);
    path = `${base}.jpg`;
    await page.screenshot({ path, type: "jpeg", quality: 70, ...options });
  }
  console.log(`${path} ${Math.ceil(statSync(path).size / 1000)} kB`);
}
