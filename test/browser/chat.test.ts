/** The chat view, used as a user would, against the real daemon and the demo agent. */
import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { ChatHome } from "../harness/chat.ts";
import { until } from "../harness/until.ts";
import { expectAccessible, expectNoSideways, openDashboard, phone, standsStill, useBrowser } from "./browser.ts";
import type { TabOptions } from "./browser.ts";

useBrowser();

const openChat = (home: ChatHome, id: string, options: TabOptions = {}) =>
  openDashboard(home, { ...options, path: `/s/${id}` });
const composer = (page: Page) => page.getByRole("textbox", { name: "Prompt" });
const transcript = (page: Page) => page.getByRole("log", { name: "Transcript" });
const write = async (page: Page, text: string): Promise<void> => {
  await composer(page).fill(text);
  await composer(page).press("Enter");
};

test("[WEB-55] an answer is Markdown while it streams; thoughts are collapsed; plan, tools, diffs, exits and ends are shown", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat();
  await using tab = await openChat(home, id);
  const { page } = tab;
  await page.getByText("No messages yet.").waitFor();
  await write(
    page,
    "think: a secret thought\nplan: first step, second step\nedit: notes/a.txt hello\nsay: **bold** and `code`\ngate: a\nfail: out of luck",
  );
  const log = transcript(page);
  await log.getByText("bold", { exact: true }).waitFor();
  expect(await log.getByText("bold", { exact: true }).evaluate((node) => node.tagName)).toBe("STRONG");
  await log.getByText("Working", { exact: true }).waitFor();
  // Collapsed: its text is searchable but not visible.
  expect(await log.getByRole("paragraph").getByText("a secret thought").isVisible()).toBe(false);
  await log.getByText("Thought", { exact: true }).click();
  await log.getByRole("paragraph").getByText("a secret thought").waitFor();
  await log.getByRole("figure", { name: "Changes in notes/a.txt" }).getByText("+1").waitFor();
  await page.getByRole("region", { name: "Plan" }).getByRole("button").click();
  await page.getByRole("region", { name: "Plan" }).getByText("second step").waitFor();
  home.openGate("a");
  await log.getByRole("note", { name: "The turn failed" }).getByText("out of luck").waitFor();
  await write(page, "tool: sh -c 'printf \"\\\\033[31mred\\\\033[0m words\"; exit 3'");
  const card = log.getByRole("article", { name: /^Tool: sh -c/ });
  await card.getByText("exit 3").first().waitFor();
  await until("the output", async () => (await card.getByLabel("Output").textContent()) === "red words");
  await expectAccessible(page);
  await expectNoSideways(page);
});

test("[WEB-56] the view follows the agent unless the user scrolled up; then it counts new items", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat(Array.from({ length: 60 }, (_, n) => `say: line ${n}`).join("\n"));
  await home.ended(id);
  await using tab = await openChat(home, id);
  const { page } = tab;
  const log = transcript(page);
  await log.getByText("line 59", { exact: true }).waitFor();
  const fromEnd = () => log.evaluate((node) => node.scrollHeight - node.scrollTop - node.clientHeight);
  await until("the end in sight", async () => (await fromEnd()) < 2);
  await home.send(id, "say: more\ntool: true\nsay: and more\ngate: a\nsay: last words");
  await log.getByText("and more", { exact: true }).waitFor();
  await until("the end in sight", async () => (await fromEnd()) < 2);
  await log.hover();
  await page.mouse.wheel(0, -600);
  const jump = page.getByRole("button", { name: /^Jump to latest/ });
  await jump.waitFor();
  // The wheel scrolls smoothly, and rows that come into view get their height: both must be done.
  const place = await standsStill(log);
  home.openGate("a");
  await home.ended(id, 2);
  await page.getByRole("button", { name: /^Jump to latest \(\d new\)$/ }).waitFor();
  expect(await log.evaluate((node) => node.scrollTop)).toBe(place);
  await jump.click();
  await log.getByText("last words", { exact: true }).waitFor();
  await until("the end in sight", async () => (await fromEnd()) < 2);
  await jump.waitFor({ state: "detached" });
});

test("[WEB-57] a permission request is shown in each tab, is answered once, and names who answered", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("ask: may I?\nsay: went on");
  await using first = await openChat(home, id);
  await using second = await openChat(home, id, { viewport: phone });
  const card = (page: Page) => transcript(page).getByRole("article", { name: "Permission request: may I?" });
  await card(first.page).getByRole("button", { name: "Always allow" }).waitFor();
  await first.page.getByText("Waiting for your answer").waitFor();
  await card(second.page).getByRole("button", { name: "Always allow" }).waitFor();
  await expectAccessible(second.page);
  await card(second.page).getByRole("button", { name: "Allow", exact: true }).tap();
  for (const { page } of [first, second]) {
    await card(page).getByText("Answered “Allow” by you").waitFor();
    expect(await card(page).getByRole("button").count()).toBe(0);
  }
  await transcript(first.page).getByText("went on", { exact: true }).waitFor();
  expect(await home.ofType(id, "permission.answered")).toHaveLength(1);
});

test("[WEB-58, WEB-59] Enter sends and Shift-Enter breaks the line; history, drafts and completion; on a phone a button sends", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat();
  {
    await using tab = await openChat(home, id);
    const { page } = tab;
    const holds = (text: string): Promise<true> =>
      until(`the composer to hold "${text}"`, async () => {
        const now = await composer(page).inputValue();
        if (now === text) return true;
        throw new Error(now);
      });
    await composer(page).pressSequentially("say: one");
    await composer(page).press("Shift+Enter");
    await composer(page).pressSequentially("say: two");
    await composer(page).press("Enter");
    await holds("");
    await home.ended(id);
    expect((await home.turns(id))[0]!.text).toBe("one\ntwo\n");
    // The history contains the prompts that the page knows.
    await transcript(page).getByText("two", { exact: true }).waitFor();
    await composer(page).press("ArrowUp");
    await holds("say: one\nsay: two");
    await composer(page).fill("");
    await composer(page).pressSequentially("/hi");
    await page.getByRole("option", { name: /^\/history/ }).waitFor();
    await composer(page).press("Enter");
    await holds("/history ");
    await composer(page).fill("");
    await composer(page).pressSequentially("look at @READ");
    await page.getByRole("option", { name: /README\.md/ }).waitFor();
    await composer(page).press("Tab");
    await holds("look at @README.md ");
    await page.reload();
    await holds("look at @README.md ");
    await composer(page).fill("");
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByRole("radio", { name: "Inserts a new line" }).check();
    await page.goBack();
    await composer(page).pressSequentially("not sent");
    await composer(page).press("Enter");
    await holds("not sent\n");
    await composer(page).fill("");
    await until(
      "the empty draft",
      async () => (await page.evaluate((key) => localStorage.getItem(key), `holdfast:draft:${id}`)) === null,
    );
  }
  await using tab = await openChat(home, id, { viewport: phone });
  const { page } = tab;
  await composer(page).pressSequentially("say: from");
  await composer(page).press("Enter");
  await composer(page).pressSequentially("say: the phone");
  await page.getByRole("button", { name: "Send" }).tap();
  await transcript(page).getByText("the phone", { exact: true }).waitFor();
  expect((await home.ended(id, 2))[1]!.text).toBe("from\nthe phone\n");
  await expectNoSideways(page);
  await expectAccessible(page);
});

test("[WEB-60] images are attached by button, paste and drop, removed, sent and shown; one too large is refused with a message", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat();
  await using tab = await openChat(home, id);
  const { page } = tab;
  const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const buffer = Buffer.from(pixel, "base64");
  const input = page.locator("input[type=file]");
  await input.setInputFiles([
    { name: "a.png", mimeType: "image/png", buffer },
    { name: "b.png", mimeType: "image/png", buffer },
  ]);
  await page.getByRole("button", { name: "Remove b.png" }).click();
  await composer(page).evaluate((node, data) => {
    const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File([bytes], "pasted.png", { type: "image/png" }));
    node.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  }, pixel);
  await page.getByRole("button", { name: "Remove pasted.png" }).waitFor();
  await composer(page).evaluate((node, data) => {
    const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([bytes], "dropped.png", { type: "image/png" }));
    for (const type of ["dragover", "drop"]) {
      node.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
    }
  }, pixel);
  await page.getByRole("button", { name: "Remove dropped.png" }).waitFor();
  await input.setInputFiles({ name: "huge.png", mimeType: "image/png", buffer: Buffer.alloc(6_000_000) });
  await page.getByText(/huge\.png is too large \(6\.0 MB\)\. The limit is/).waitFor();
  await write(page, "say: seen");
  await home.says(id, `${`image: image/png, ${buffer.length} bytes\n`.repeat(3)}seen`);
  await transcript(page).getByText("pasted.png").waitFor();
  expect((await home.ofType(id, "prompt.admitted"))[0]!["attachments"]).toMatchObject([
    { name: "a.png" },
    { name: "pasted.png" },
    { name: "dropped.png" },
  ]);
  await transcript(page).getByRole("button", { name: "Enlarge dropped.png" }).click();
  await transcript(page).getByRole("button", { name: "Shrink dropped.png" }).waitFor();
  const picture = transcript(page).getByRole("img", { name: "dropped.png" });
  await until("the picture", () => picture.evaluate((node: HTMLImageElement) => node.naturalWidth === 1));
  await expectAccessible(page);
});

test("[WEB-61, WEB-62, WEB-63, WEB-64] queued prompts are edited, moved and removed; mode and model are picked; a turn is cancelled", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: begun\ngate: a");
  await using tab = await openChat(home, id);
  const { page } = tab;
  await transcript(page).getByText("begun", { exact: true }).waitFor();
  // The first is delayed in transit: the others must not overtake it.
  let release: (() => void) | null = null;
  await page.route(new RegExp(`/api/sessions/${id}/prompts$`), async (route) => {
    if (release === null) await new Promise<void>((resolve) => (release = resolve));
    await route.continue();
  });
  for (const text of ["say: one", "say: two", "say: three"]) await write(page, text);
  await until("the first to be under way", () => release !== null);
  release!();
  const queue = page.getByRole("region", { name: "Queued prompts" });
  await queue.getByText("3 queued prompts").waitFor();
  const row = (text: string) => queue.getByRole("listitem").filter({ hasText: text });
  await row("say: three").getByRole("button", { name: "Move up" }).click();
  await until("the order", async () => (await queue.getByRole("listitem").nth(1).textContent())?.includes("three"));
  await row("say: one").getByRole("button", { name: "Remove" }).click();
  await queue.getByText("2 queued prompts").waitFor();
  await row("say: two").getByRole("button", { name: "Edit" }).click();
  await queue.getByRole("textbox", { name: "Queued prompt" }).fill("say: two, changed");
  await queue.getByRole("button", { name: "Save" }).click();
  await row("say: two, changed").waitFor();
  await page.getByRole("button", { name: "Cancel turn" }).click();
  await transcript(page).getByText("The turn was cancelled.").first().waitFor();
  const turns = (await home.ended(id, 3)).map(({ text }) => text);
  expect(turns).toEqual(["begun\n", "three\n", "two, changed\n"]);

  await page.getByRole("combobox", { name: "Mode", exact: true }).selectOption("plan");
  await page.getByRole("combobox", { name: "Model" }).selectOption("demo-large");
  await transcript(page).getByText("Mode set to plan by you").waitFor();
  await transcript(page).getByText("Model set to demo-large by you").waitFor();
  expect((await home.turn(id, "mode?\nmodel?")).text).toBe("mode: plan\nmodel: demo-large\n");
});

test("[WEB-64] a second press force-ends a turn that the agent does not cancel", async () => {
  await using home = await ChatHome.open({ deaf: { program: "deaf-to-cancel" } });
  const id = await home.chat("go", "deaf");
  await using tab = await openChat(home, id, { viewport: phone });
  const { page } = tab;
  await page.getByRole("button", { name: "Cancel turn" }).tap();
  await page.getByRole("button", { name: "Cancelling …" }).tap();
  await page.getByRole("button", { name: "Force end turn" }).tap();
  await transcript(page).getByText("You force-ended the turn").waitFor();
  expect((await home.turns(id))[0]!.stopReason).toBe("forced");
});
