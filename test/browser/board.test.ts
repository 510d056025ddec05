import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { ChatHome } from "../harness/chat.ts";
import { until } from "../harness/until.ts";
import { expectAccessible, lineDown, openDashboard, useBrowser } from "./browser.ts";

useBrowser();

const column = (page: Page, name: string) => page.getByRole("region", { name: new RegExp(`^${name}`) });
const card = (page: Page, id: string) => page.getByRole("article", { name: new RegExp(`^${id} `) });
/** The focus is the cursor. */
const cursorAt = (page: Page, words: string): Promise<true> =>
  until(`the cursor at ${words}`, async () => {
    const focused = () => document.activeElement?.closest("article")?.getAttribute("aria-label") ?? "none";
    const now = await page.evaluate(focused);
    if (now.includes(words)) return true;
    throw new Error(now);
  });

test("[WEB-2, WEB-7, WEB-24] the board: columns by need, live; a permission request answered on its card; the list", async () => {
  await using home = await ChatHome.open();
  // Longer than a card's box: its end must be seen before it is allowed.
  const asked = `run the tests? ${"--and-more ".repeat(60)}--to-the-end`;
  const asking = await home.chat(`say: I looked around.\nask: ${asked}`);
  const working = await home.chat("gate: open");
  const killed = await home.chat("say: done");
  await home.status(asking, "needs_input");
  await home.ended(killed);
  await home.call("kill", killed, { body: {} });
  await using tab = await openDashboard(home);
  const { page } = tab;
  await column(page, "Needs you").getByRole("article", { name: asking }).waitFor();
  await column(page, "Working").getByRole("article", { name: working }).waitFor();
  await column(page, "Ended").getByRole("article", { name: killed }).waitFor();
  await until("the count in the title", async () => (await page.title()) === "(1) Holdfast");
  await expectAccessible(page);
  await page.emulateMedia({ colorScheme: "dark" });
  await expectAccessible(page);

  const question = page.getByRole("group", { name: `Permission request from ${asking}` });
  const words = question.getByText(asked);
  await words.press("End");
  await until("the end of the question", () =>
    words.evaluate((node) => node.scrollTop > 0 && node.scrollTop + node.clientHeight >= node.scrollHeight - 1),
  );
  expect(await question.getByRole("button").allTextContents()).toEqual(["Allow", "Always allow", "Reject"]);
  await question.getByRole("button", { name: "Allow", exact: true }).click();
  await column(page, "Idle").getByRole("article", { name: asking }).waitFor();
  expect(await home.said(asking)).toContain("allowed");
  await until("the title without a count", async () => (await page.title()) === "Holdfast");

  home.openGate("open");
  await column(page, "Idle").getByRole("article", { name: working }).waitFor();

  await page.getByRole("button", { name: "List" }).click();
  await card(page, working).getByText("idle").waitFor();
  await expectAccessible(page);
  await page.reload();
  await page.getByRole("button", { name: "List", pressed: true }).waitFor();
  await card(page, killed).getByRole("link").first().click();
  await page.waitForURL(`**/s/${killed}`);
});

test("[WEB-3, WEB-5, WEB-6, WEB-10] filter, search, order, keyboard and command palette", async () => {
  await using home = await ChatHome.open();
  const other = await home.repository("other-app");
  await home.ok(["project", "add", other]);
  const spawn = (project: string, name: string) =>
    home.call("spawn", "-", { body: { project, name, agent: "demo", kind: "chat" } }).then(({ id }) => id);
  const ids = [
    await spawn("my-app", "Fix the login"),
    await spawn("my-app", "Write the manual"),
    await spawn("other-app", "Fix the roof"),
  ];
  await using tab = await openDashboard(home);
  const { page } = tab;
  await card(page, ids[2]!).waitFor();
  const shown = async (): Promise<string[]> =>
    (
      await page
        .getByRole("article")
        .all()
        .then((all) => Promise.all(all.map((one) => one.getAttribute("aria-label"))))
    ).map((label) => label!.split(" ")[0]!);

  await page.getByLabel("Sort by", { exact: true }).selectOption("Name");
  await until("the order by name", async () => (await shown()).join() === [ids[0], ids[1], ids[2]].join());
  await page.getByLabel("Sort by", { exact: true }).selectOption("Newest");
  await until("the newest first", async () => (await shown()).join() === ids.toReversed().join());
  await page.getByLabel("Sort by", { exact: true }).selectOption("Name");

  await page.getByLabel("Project", { exact: true }).selectOption("other-app");
  await until("one project", async () => (await shown()).join() === ids[2]);
  await page.getByLabel("Project", { exact: true }).selectOption("All projects");

  await page.locator("body").press("/");
  await page.keyboard.type("fix LOGIN");
  await until("what fits", async () => (await shown()).join() === ids[0]);
  await page.keyboard.press("Escape");
  await until("all again", async () => (await shown()).length === 3);
  await page.keyboard.press("/");
  await page.keyboard.type("nothing like it");
  await page.getByRole("button", { name: "Show all sessions" }).click();
  await card(page, ids[0]!).waitFor();

  await page.keyboard.press("j");
  await cursorAt(page, ids[0]!);
  await page.keyboard.press("j");
  await cursorAt(page, ids[1]!);
  await page.keyboard.press("k");
  await cursorAt(page, ids[0]!);

  // The cursor follows its session, and an open menu keeps the board from moving.
  await home.send(ids[0]!, "gate: a");
  await column(page, "Working").getByRole("article", { name: ids[0]! }).waitFor();
  await cursorAt(page, ids[0]!);
  await page.keyboard.press("m");
  await page.getByRole("menu").waitFor();
  home.openGate("a");
  await page.locator("[data-column=working] article").getByText("idle", { exact: true }).waitFor();
  await page.getByRole("menuitem", { name: "Rename" }).waitFor();
  await page.keyboard.press("Escape");
  await column(page, "Idle").getByRole("article", { name: ids[0]! }).waitFor();
  await cursorAt(page, ids[0]!);
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await cursorAt(page, ids[0]!);
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/s/${ids[0]}`);
  // The two keys must follow each other quickly, and a page that is still opening takes longer.
  await page.getByRole("textbox", { name: "Prompt" }).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("b");
  await card(page, ids[0]!).waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  await page.keyboard.press("n");
  await page.getByRole("heading", { name: "New session" }).waitFor();
  await page.getByLabel("Title").fill("n is a letter here");
  expect(page.url()).toContain("/new");

  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").waitFor();
  await expectAccessible(page);
  await page.keyboard.type("manual");
  await page.getByRole("option", { name: /Write the manual/, selected: true }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/s/${ids[1]}`);
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.type("stop a session");
  await page.getByRole("option", { name: /^Stop a session/, selected: true }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Stop which session?" }).waitFor();
  await page.keyboard.type("roof");
  await page.getByRole("option", { name: /Fix the roof/, selected: true }).waitFor();
  await page.keyboard.press("Enter");
  await page
    .getByRole("dialog", { name: `Stop ${ids[2]}` })
    .getByRole("button", { name: "Stop" })
    .click();
  await home.status(ids[2]!, "stopped");
});

test("[SESSION-63, WEB-10] a session is pinned from its card's menu, without a dialog, and comes first until it is unpinned", async () => {
  await using home = await ChatHome.open();
  const first = await home.chat();
  const second = await home.chat();
  await using tab = await openDashboard(home);
  const { page } = tab;
  const choose = async (id: string, verb: string): Promise<void> => {
    await page.getByRole("button", { name: `Actions for ${id}` }).click();
    await page.getByRole("menuitem", { name: verb, exact: true }).click();
  };
  const order = (...ids: string[]) =>
    until(`the order ${ids.join()}`, async () => {
      const labels = await page
        .getByRole("article")
        .evaluateAll((all) => all.map((one) => one.getAttribute("aria-label")));
      return labels.map((label) => label!.split(" ")[0]).join() === ids.join();
    });
  await page.getByLabel("Sort by", { exact: true }).selectOption("Name");
  await order(first, second);
  await choose(second, "Pin");
  await page.getByText(`${second} pinned.`).waitFor();
  await order(second, first);
  await card(page, second).getByText("pinned", { exact: true }).waitFor();
  await expectAccessible(page);
  await choose(second, "Unpin");
  await order(first, second);
});

test("[WEB-14] two tabs: a request answered in one disappears in the other, and both show new sessions", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("ask: go on?");
  await home.status(id, "needs_input");
  await using tab = await openDashboard(home);
  const other = await tab.context.newPage();
  await other.goto(tab.page.url());
  await other.getByRole("group", { name: `Permission request from ${id}` }).waitFor();
  await tab.page
    .getByRole("group", { name: `Permission request from ${id}` })
    .getByRole("button", { name: "Reject" })
    .click();
  await other.getByRole("group", { name: `Permission request from ${id}` }).waitFor({ state: "hidden" });
  await column(other, "Idle").getByRole("article", { name: id }).waitFor();
  const next = await home.chat();
  await card(other, next).waitFor();
  await card(tab.page, next).waitFor();
});

test("[WEB-15] fifty sessions are drawn, searched and opened", async () => {
  await using home = await ChatHome.open();
  const count = 50;
  const live = 12;
  const ids = await Promise.all(
    Array.from({ length: count }, async (_, at) => {
      // All together: their numbers are random, so the one to search for has a name without one.
      const name = at === count - 1 ? "The roof" : `Task ${at + 1}`;
      const body = { project: "my-app", agent: "demo", kind: "terminal", name, wait: false } as const;
      const { id } = await home.call("spawn", "-", { body });
      // Most are killed before they are complete: the board still shows fifty.
      if (at >= live) await home.call("stop", id, { body: { wait: false } });
      return id;
    }),
  );
  await using tab = await openDashboard(home, { expected: lineDown });
  const { page } = tab;
  await until("all of them", async () => (await page.getByRole("article").count()) === count, 60_000);
  expect(new Set(ids).size).toBe(count);
  await page.getByLabel("Search sessions").fill("roof");
  await until("the one", async () => (await page.getByRole("article").count()) === 1);
  await page.keyboard.press("Enter");
  await cursorAt(page, "The roof");
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/s/${ids.at(-1)}`);
});
