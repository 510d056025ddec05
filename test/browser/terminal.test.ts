import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { ProjectHome } from "../harness/project.ts";
import { until } from "../harness/until.ts";
import { desktop, expectAccessible, expectNoSideways, lineDown, openDashboard, phone, useBrowser } from "./browser.ts";

useBrowser();

/** The screen's text, as a screen reader sees it. */
const screenText = async (page: Page): Promise<string> =>
  (
    await page
      .getByRole("group", { name: /^Screen of/ })
      .getByRole("listitem")
      .allTextContents()
  ).join("\n");

const shows = (page: Page, words: string): Promise<true> =>
  until(`the screen to show ${words}`, async () => {
    const text = await screenText(page);
    if (text.includes(words)) return true;
    throw new Error(text.slice(-300));
  });

const attached = (page: Page): Promise<void> => page.getByText("Attached: your input").waitFor();

async function readByText(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Terminal options" }).click();
  await page.getByRole("menuitem", { name: /Turn on screen reader mode/ }).click();
}

async function type(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Terminal input" }).focus();
  await page.keyboard.type(text);
  await page.keyboard.press("Enter");
}

/** A program that reads: once it has echoed a line, it can be interrupted. */
async function runCat(page: Page, words: string): Promise<void> {
  await type(page, "cat");
  await type(page, words);
  await until("cat to answer", async () => (await screenText(page)).split(words).length > 2);
}

test("[WEB-36] terminal input reaches the agent, and its output is shown; read-only sends nothing", async () => {
  await using home = await ProjectHome.make();
  const { id } = await home.spawn();
  await using tab = await openDashboard(home, { path: `/s/${id}` });
  const { page } = tab;
  await attached(page);
  await readByText(page);
  await type(page, "say: good day");
  await shows(page, "good day");
  await expectAccessible(page);

  await page.getByRole("button", { name: "Read-only" }).click();
  await page.getByText("Read-only: your input is not sent.").waitFor();
  await page.getByRole("textbox", { name: "Terminal input" }).focus();
  await page.keyboard.type("unheard");
  await page.getByRole("group", { name: /^Screen of/ }).hover();
  await page.mouse.wheel(0, -400);
  await page.getByRole("region", { name: "Terminal history" }).getByText("good day").first().waitFor();
  await page.getByRole("button", { name: "Close history" }).click();
  await page.getByRole("button", { name: "Read-only" }).click();
  await attached(page);
  await type(page, "say: heard");
  await shows(page, "heard");
  expect(await screenText(page)).not.toContain("unheard");
});

test("[WEB-37] the terminal reconnects after a daemon crash and repaints; meanwhile typing is off", async () => {
  await using home = await ProjectHome.make();
  const port = await home.keepPort();
  const { id } = await home.spawn();
  await using tab = await openDashboard(home, { path: `/s/${id}`, expected: lineDown });
  const { page } = tab;
  await attached(page);
  await readByText(page);
  await type(page, "say: before the crash");
  await shows(page, "> say: before the crash");
  await home.crash();
  await page.getByText("typing is off").waitFor();
  await type(page, "lost");
  await home.ok(["start", "--port", port]);
  await attached(page);
  await shows(page, "> say: before the crash");
  await type(page, "say: after it");
  await shows(page, "> say: after it");
  expect(await screenText(page)).not.toContain("lost");
});

test("[WEB-38] the screen follows the window's size; two viewers share it; wheel and history scroll back", async () => {
  await using home = await ProjectHome.make({ SHELL: "/bin/sh" });
  const { id } = await home.json(["spawn", "my-app", "--agent", "shell", "--kind", "terminal"]);
  await using tab = await openDashboard(home, { path: `/s/${id}` });
  await using other = await openDashboard(home, { path: `/s/${id}` });
  const { page } = tab;
  await attached(page);
  await attached(other.page);
  await readByText(page);
  await readByText(other.page);
  let asked = 0;
  const columns = async (): Promise<number> => {
    const mark = `columns-${++asked}`;
    await type(page, `clear; echo ${mark}-$(stty size | cut -d' ' -f2)-`);
    const line = new RegExp(`${mark}-(\\d+)-`);
    return until("the columns", async () => Number(line.exec(await screenText(page))?.[1]) || null);
  };
  const wide = await columns();
  await page.setViewportSize({ width: 900, height: 700 });
  await until("fewer columns", async () => (await columns()) < wide);
  await page.setViewportSize(desktop);

  await type(page, "clear; echo seen by both");
  await shows(other.page, "seen by both");

  // Not as it is typed: the echo of the line is not the end.
  await type(page, "clear; seq 1 500; echo the-end-$((1+1))");
  await shows(page, "the-end-2");
  const box = (await page.getByRole("group", { name: /^Screen of/ }).boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await until("the wheel to go back", async () => {
    await page.mouse.wheel(0, -400);
    return !(await screenText(page)).includes("the-end-2");
  });
  // Typing goes to the agent again, not to tmux's own keys.
  await type(page, "echo back; echo again");
  await shows(page, "back; echo again");

  await page.getByRole("button", { name: "History" }).click();
  await page.getByRole("searchbox", { name: "Search history" }).fill("123");
  await page.getByText("1 of 1").waitFor();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
});

test("[WEB-39] selected text is copied; the agent's escape sequences reach neither the clipboard nor the page", async () => {
  await using home = await ProjectHome.make({ SHELL: "/bin/sh" });
  const { id } = await home.json(["spawn", "my-app", "--agent", "shell", "--kind", "terminal"]);
  await using tab = await openDashboard(home, {
    path: `/s/${id}`,
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const { page } = tab;
  await attached(page);
  await readByText(page);
  const clipboard = (): Promise<string> => page.evaluate(() => navigator.clipboard.readText());
  await page.evaluate(() => navigator.clipboard.writeText("mine"));
  // Without the count of sessions that need attention: it arrives a moment after the page.
  const name = async (): Promise<string> => (await page.title()).replace(/^\(\d+\) /, "");
  const before = await name();
  await type(
    page,
    String.raw`clear; printf '\033]52;c;aGFja2Vk\007\033]0;hacked\007\033]8;;javascript:alert(1)\007link\033]8;;\007'; echo; echo tricks-$((1+1))`,
  );
  await shows(page, "tricks-2");
  expect(await clipboard()).toBe("mine");
  expect(await name()).toBe(before);

  await type(page, "clear; echo selectable-words");
  await shows(page, "selectable-words");
  const box = (await page.getByRole("group", { name: /^Screen of/ }).boundingBox())!;
  await until("a word to be selected and copied", async () => {
    await page.mouse.dblclick(box.x + 30, box.y + 8);
    await page.keyboard.press("Control+Shift+C");
    return (await clipboard()).includes("selectable");
  });
});

test("[WEB-40] on a phone the key bar sends keys that its keyboard lacks", async () => {
  await using home = await ProjectHome.make({ SHELL: "/bin/sh" });
  const { id } = await home.json(["spawn", "my-app", "--agent", "shell", "--kind", "terminal"]);
  await using tab = await openDashboard(home, { path: `/s/${id}`, viewport: phone });
  const { page } = tab;
  await attached(page);
  await readByText(page);
  await runCat(page, "purr");
  await page.getByRole("button", { name: "Ctrl-C" }).tap();
  await type(page, "echo interrupted-$((40+2))");
  await shows(page, "interrupted-42");
  await page.getByRole("button", { name: "Up", exact: true }).tap();
  await page.getByRole("button", { name: "Enter", exact: true }).tap();
  await runCat(page, "meow");
  await page.getByRole("button", { name: "Hold Ctrl for the next key" }).tap();
  await page.getByRole("textbox", { name: "Terminal input" }).focus();
  await page.keyboard.type("c");
  await type(page, "echo by-ctrl-$((40+3))");
  await shows(page, "by-ctrl-43");
  // A plain shell echoes an arrow key as text.
  expect(await screenText(page)).toMatch(/\^\[[[O]A/);
  await expectNoSideways(page);
  await expectAccessible(page);
});

test("[WEB-41] an ended session shows its last lines; a restore brings the screen back", async () => {
  await using home = await ProjectHome.make();
  // A conversation can be resumed only after a prompt.
  const { id } = await home.spawn("--prompt", "say: a last word");
  await using tab = await openDashboard(home, { path: `/s/${id}` });
  const { page } = tab;
  await attached(page);
  await readByText(page);
  await shows(page, "> say: a last word");
  await type(page, "/exit");
  // Not the toast, which may have the same text.
  await page.getByText(/The agent exited on its own .*A prompt or Restore restarts it/).waitFor();
  await page.getByLabel("Last lines").getByText("a last word").waitFor();
  const input = page.getByRole("textbox", { name: "Terminal input" });
  await input.waitFor({ state: "detached" });
  expect(await input.count()).toBe(0);
  await page.getByRole("button", { name: "Restore" }).first().click();
  await page.getByRole("dialog").getByRole("button", { name: "Restore" }).click();
  await attached(page);
  await shows(page, "resumed with 1 turns");
});
