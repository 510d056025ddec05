/** A chat view when things go wrong around it, or its transcript is long or hostile. */
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { ChatHome } from "../harness/chat.ts";
import { until } from "../harness/until.ts";
import { expectAccessible, expectNoSideways, lineDown, openDashboard, phone } from "./browser.ts";
import { standsStill, useBrowser, type TabOptions } from "./browser.ts";

useBrowser();

const openChat = (home: ChatHome, id: string, options: TabOptions = {}) =>
  openDashboard(home, { ...options, path: `/s/${id}` });
const composer = (page: Page) => page.getByRole("textbox", { name: "Prompt" });
const transcript = (page: Page) => page.getByRole("log", { name: "Transcript" });
const paragraph = (page: Page, text: string) => transcript(page).getByText(text, { exact: true });
const write = async (page: Page, text: string): Promise<void> => {
  await composer(page).fill(text);
  await composer(page).press("Enter");
};
const keys = (page: Page) => page.evaluate(() => Object.keys(localStorage).sort());

test("[WEB-61, WEB-70] a daemon killed mid-stream loses nothing: output stays, the prompt is sent once, the rest arrives", async () => {
  await using home = await ChatHome.open();
  const port = await home.keepPort();
  const id = await home.chat("say: before\ngate: a\nsay: after");
  await using tab = await openChat(home, id, { expected: lineDown });
  const { page } = tab;
  await paragraph(page, "before").waitFor();
  await home.crash();
  home.openGate("a");
  await write(page, "say: typed without a daemon");
  await transcript(page)
    .getByText(/Offline; will be sent when reconnected/)
    .waitFor();
  expect(await paragraph(page, "before").isVisible()).toBe(true);
  await home.ok(["start", "--port", port]);
  await paragraph(page, "after").waitFor();
  await paragraph(page, "typed without a daemon").waitFor();
  await home.ended(id, 2);
  expect((await home.ofType(id, "prompt.admitted")).map((event) => event["text"])).toEqual([
    "say: before\ngate: a\nsay: after",
    "say: typed without a daemon",
  ]);
  await until("both prompts to be shown once, and as sent", async () => {
    const shown = await transcript(page).getByRole("article", { name: "Prompt" }).allTextContents();
    if (shown.length === 2 && !/Sending|No connection/.test(shown.join())) return true;
    throw new Error(shown.join("; "));
  });
});

test("[WEB-65] after a reset the recap is offered once: it fills the composer, is not sent, and disappears in every tab", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: before the reset");
  await home.ended(id);
  const forget = async (): Promise<void> => {
    const conversation = (await home.show(id)).agentSessionId!;
    await home.call("stop", id, { body: {} });
    await home.run("rm", [`${home.userHome}/.local/state/holdfast-demo/${conversation}.jsonl`]);
    await home.call("restore", id, { body: {} });
  };
  await forget();
  await using first = await openChat(home, id);
  await using second = await openChat(home, id, { viewport: phone });
  const offer = (page: Page) => page.getByRole("button", { name: "Resume with prior context" });
  for (const { page } of [first, second]) {
    await transcript(page).getByRole("note", { name: "Conversation context reset" }).waitFor();
    await offer(page).waitFor();
  }
  await expectAccessible(second.page);
  await first.page.reload();
  await offer(first.page).click();
  await until("the recap", async () => (await composer(first.page).inputValue()).includes("before the reset"));
  expect(await home.ofType(id, "prompt.admitted")).toHaveLength(1);
  await composer(first.page).press("Enter");
  for (const { page } of [first, second]) await offer(page).waitFor({ state: "detached" });
  await second.page.reload();
  await transcript(second.page).getByRole("article", { name: "Answer" }).first().waitFor();
  expect(await offer(second.page).count()).toBe(0);
  await home.ended(id, 2);

  await forget();
  for (const { page } of [first, second]) await offer(page).waitFor();
  await second.page.getByRole("button", { name: "Dismiss", exact: true }).tap();
  for (const { page } of [first, second]) await offer(page).waitFor({ state: "detached" });
});

test("[WEB-67, WEB-68] a long transcript opens at its end, loads older items on scroll, and is searched and exported completely", async () => {
  await using home = await ChatHome.open();
  const lines = Array.from({ length: 260 }, (_, n) => `think: thought ${n}\nsay: words number ${n}`);
  const id = await home.chat(lines.join("\n"));
  await home.ended(id);
  await using tab = await openChat(home, id);
  const { page, context } = tab;
  await paragraph(page, "words number 259").waitFor();
  expect(await transcript(page).getByText("words number 0", { exact: true }).count()).toBe(0);
  const log = transcript(page);
  await log.hover();
  const length = () => log.evaluate((node) => node.scrollHeight);
  const newest = await length();
  await until("older items", async () => {
    await page.mouse.wheel(0, -1_500);
    return (await length()) > 2 * newest;
  });

  await page.keyboard.press("Control+f");
  const field = page.getByRole("searchbox", { name: "Search in transcript" });
  await field.fill("thought 7");
  // 7, 70 to 79, in the thoughts; the prompt has them all too.
  await page
    .getByRole("status")
    .getByText(/^\d+ of 22$/)
    .waitFor();
  await field.press("Enter");
  await field.fill("words number 17x");
  await page.getByText("no matches").waitFor();
  await field.fill("words number 133");
  await page
    .getByRole("status")
    .getByText(/^2 of 2$/)
    .waitFor();
  await paragraph(page, "words number 133").waitFor();
  await field.press("Escape");
  await field.waitFor({ state: "detached" });
  await until("the composer to have the keyboard", () =>
    composer(page).evaluate((node) => node === document.activeElement),
  );

  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export as Markdown" }).click();
  const file = readFileSync(await (await download).path(), "utf8");
  for (const n of [0, 133, 259]) expect(file).toContain(`\nwords number ${n}\n`);
  expect((await download).suggestedFilename()).toBe(`${id}.md`);

  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: /^Jump to latest/ }).click();
  const last = log.getByRole("article", { name: "Answer" }).filter({ hasText: "words number 259" });
  await last.waitFor();
  await standsStill(log);
  await last.hover();
  await last.getByRole("button", { name: "Copy answer" }).click();
  await until(
    "the copy",
    async () => (await page.evaluate(() => navigator.clipboard.readText())).trim() === "words number 259",
  );
});

test("[WEB-52, WEB-66] a reload shows the cached state immediately, marks new items, and keeps nothing of a deleted session", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: from the cache");
  await home.ended(id);
  await using tab = await openChat(home, id);
  const { page } = tab;
  await paragraph(page, "from the cache").waitFor();
  await until("what is seen to be kept", async () => (await keys(page)).includes(`holdfast:seen:${id}`));
  await composer(page).fill("a draft");
  await page.goto(new URL("/settings", page.url()).href);
  await home.turn(id, "say: meanwhile");
  // An hour passes.
  await page.evaluate((key) => {
    const seen = JSON.parse(localStorage.getItem(key)!) as { at: number };
    localStorage.setItem(key, JSON.stringify({ ...seen, at: seen.at - 3_600_000 }));
  }, `holdfast:seen:${id}`);
  const asked: string[] = [];
  page.on("request", (request) => void asked.push(new URL(request.url()).pathname));
  await page.goto(new URL(`/s/${id}`, page.url()).href);
  await paragraph(page, "from the cache").waitFor();
  await paragraph(page, "meanwhile").waitFor();
  await transcript(page).getByRole("separator", { name: "While you were away" }).waitFor();
  expect(asked).not.toContain(`/api/sessions/${id}/transcript`);
  expect(asked).toContain(`/api/sessions/${id}/events`);

  await home.call("delete", id, { body: {} });
  await page
    .getByText(/deleted/i)
    .first()
    .waitFor();
  await until("nothing to be left", async () => !(await keys(page)).some((key) => key.includes(id)));
});

test("[WEB-19, WEB-52] quota exceeded: the page loads from the daemon, keeps the draft, and warns", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: here");
  await home.ended(id);
  await using tab = await openChat(home, id);
  const { page } = tab;
  await paragraph(page, "here").waitFor();
  await composer(page).fill("kept words");
  await until("the draft", async () => (await keys(page)).includes(`holdfast:draft:${id}`));
  await page.evaluate(() => {
    for (let size = 1 << 22; size > 0; size >>= 1) {
      try {
        for (let n = 0; ; n++) localStorage.setItem(`filler:${size}:${n}`, "x".repeat(size));
      } catch {
        // Full at this size.
      }
    }
  });
  await page.reload();
  await paragraph(page, "here").waitFor();
  expect(await composer(page).inputValue()).toBe("kept words");
  await write(page, "say: still works");
  await paragraph(page, "still works").waitFor();

  const banner = page.getByText("This browser's storage is full.");
  await banner.waitFor();
  await expectAccessible(page);
  await page.evaluate(() => {
    for (const key of Object.keys(localStorage)) if (key.startsWith("filler:")) localStorage.removeItem(key);
  });
  await page.getByRole("button", { name: "Free up space" }).click();
  await banner.waitFor({ state: "hidden" });
  await composer(page).fill("kept again");
  await until("the draft", async () => (await keys(page)).includes(`holdfast:draft:${id}`));
  expect(await banner.count()).toBe(0);
});

test("[WEB-54] a lasting gap in the sequence is shown; then everything arrives, once", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: before");
  await home.ended(id);
  await using tab = await openDashboard(home, { path: "/" });
  const { page } = tab;
  let losing = false;
  await page.routeWebSocket(/\/api\/stream/, (socket) => {
    const daemon = socket.connectToServer();
    daemon.onMessage((data) => {
      const frame = JSON.parse(String(data)) as { frame?: string; events?: unknown[] };
      // The sessions arrive with their sequence numbers; the events are lost in transit.
      socket.send(losing && frame.frame === "events" ? JSON.stringify({ ...frame, events: [] }) : data);
    });
  });
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route(new RegExp(`/api/sessions/${id}/events`), async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(new URL(`/s/${id}`, page.url()).href);
  await paragraph(page, "before").waitFor();
  losing = true;
  await write(page, "say: in between");
  await home.ended(id, 2);
  const warning = page.getByText("Some messages are missing. Loading them from the daemon.");
  await warning.waitFor();
  expect(await paragraph(page, "in between").count()).toBe(0);
  losing = false;
  release();
  await paragraph(page, "in between").waitFor();
  await warning.waitFor({ state: "hidden" });
  await write(page, "say: after");
  await paragraph(page, "after").waitFor();
  for (const words of ["before", "in between", "after"]) expect(await paragraph(page, words).count()).toBe(1);
});

test("[WEB-72] an expanded row stays expanded while it is scrolled out of view", async () => {
  await using home = await ChatHome.open();
  const lines = Array.from({ length: 60 }, (_, n) => `think: thought ${n}\ntool: echo ${n}`);
  const id = await home.chat(lines.join("\n"));
  await home.ended(id);
  await using tab = await openChat(home, id);
  const { page } = tab;
  const log = transcript(page);
  const last = log.getByRole("article", { name: "Tool: echo 59", exact: true });
  await last.waitFor();
  await standsStill(log);
  await last.locator("summary").first().click();
  await last.getByLabel("Command", { exact: true }).waitFor();
  await log.hover();
  await until("it to be out of sight", async () => {
    await page.mouse.wheel(0, -1_500);
    return (await last.count()) === 0;
  });
  await page.getByRole("button", { name: /^Jump to latest/ }).click();
  await last.getByLabel("Command", { exact: true }).waitFor();
  await standsStill(log);
  await last.locator("summary").first().click();
  await last.getByLabel("Command", { exact: true }).waitFor({ state: "hidden" });
});

test("[WEB-69] hostile output stays inert, and 10 MB of it do not freeze the page", async () => {
  await using home = await ChatHome.open();
  const hostile = [
    "say: <img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script><b>raw</b>",
    "say: [click me](javascript:document.title='owned') ![pixel](https://tracker.invalid/p.png) <https://example.org>",
    "say: invoice\u202Etxt.exe",
    "say: <a href='javascript:1'>x</a> <iframe src='https://tracker.invalid'></iframe> <style>*{display:none}</style>",
    "tool: printf '\\033]52;c;aGk=\\007<script>1</script>\\033[2Jend'",
  ];
  const id = await home.chat(hostile.join("\n"));
  await home.ended(id);
  await using tab = await openChat(home, id, { viewport: phone });
  const { page } = tab;
  const requests: string[] = [];
  page.on("request", (request) => void requests.push(request.url()));
  const log = transcript(page);
  await log.getByText("invoice[U+202E]txt.exe", { exact: true }).waitFor();
  await log.getByText("<b>raw</b>").last().waitFor();
  await standsStill(log);
  await log.getByText("click me").last().click();
  expect(
    await log.getByRole("link").evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).href)),
  ).toEqual(["https://tracker.invalid/p.png", "https://example.org/"]);
  await log
    .getByRole("article", { name: /^Tool: printf/ })
    .locator("summary")
    .first()
    .tap();
  await until(
    "the output",
    async () => (await log.getByLabel("Output").last().textContent()) === "<script>1</script>end",
  );
  expect(await log.locator("script, iframe, style, img").count()).toBe(0);
  expect(await page.title()).not.toContain("owned");
  await expectNoSideways(page);

  await home.send(id, "flood: 10000000\nsay: the end of it", { waitForTurn: true });
  await paragraph(page, "the end of it").waitFor();
  // Drawn in parts: more on request.
  await log.hover();
  // Its last part may be short and drawn completely: scroll up to a long one.
  await until("a part that is not drawn completely", async () => {
    await page.mouse.wheel(0, -2_000);
    return (await log.getByRole("button", { name: /^Show more/ }).count()) > 0;
  });
  const nodes = await log.evaluate((node) => node.textContent.length);
  expect(nodes).toBeLessThan(500_000);
  await composer(page).fill("still alive");
  expect(requests.filter((url) => url.includes("tracker"))).toEqual([]);
});

test("[WEB-71] the composer shows a read-only daemon; damaged output offers to end the turn", async () => {
  await using home = await ChatHome.open();
  const port = await home.keepPort();
  const id = await home.chat("say: one\ngate: a\nsay: two");
  await home.says(id, "one\n");
  await home.crash();
  appendFileSync(join(home.launchDirectory(id), "out"), "no JSON at all\n");
  await home.ok(["start", "--port", port]);
  {
    await using tab = await openChat(home, id);
    const { page } = tab;
    await transcript(page).getByRole("note", { name: "Output damaged" }).waitFor();
    await transcript(page).getByRole("button", { name: "Force end turn" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Force end turn" }).click();
    await transcript(page).getByText("You force-ended the turn").waitFor();
    expect((await home.turns(id))[0]!.stopReason).toBe("forced");
  }
  await home.ok(["stop"]);
  await home.ok(["start", "--read-only", "--port", port]);
  await using tab = await openChat(home, id, { expected: lineDown });
  await tab.page.getByPlaceholder("This daemon is read-only").waitFor();
  expect(await composer(tab.page).isDisabled()).toBe(true);
  await home.ok(["stop"]);
  // The page expects its daemon there, and would report one of another home.
  await home.ok(["start", "--port", port]);
});
