import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { ChatHome } from "../harness/chat.ts";
import { until } from "../harness/until.ts";
import { desktop, expectAccessible, expectNoSideways, openDashboard, phone, useBrowser } from "./browser.ts";

useBrowser();
/** A finger's width. */
const leastPx = 40;
const againMs = 2_000;
const stepMs = 40_000;

test("[WEB-17, WEB-7] on a phone: one column, a bottom bar, nothing wider than the screen, and an answered request", async () => {
  await using home = await ChatHome.open();
  const asking = await home.chat(
    "say: a-very-long-word-that-no-screen-of-a-phone-can-hold-in-one-line-however-it-is-turned-or-bent\nask: go on?",
  );
  const idle = await home.chat("say: done");
  await home.status(asking, "needs_input");
  await home.ended(idle);
  await using tab = await openDashboard(home, { viewport: phone });
  const { page } = tab;
  await page.getByRole("article", { name: idle }).waitFor();
  await expectNoSideways(page);
  await expectAccessible(page);
  const boxes = await Promise.all(
    [asking, idle].map((id) =>
      page.getByRole("article", { name: id }).evaluate((one) => one.getBoundingClientRect().x),
    ),
  );
  expect(new Set(boxes).size).toBe(1);
  await expectPressable(page);
  await page.getByRole("button", { name: "Allow", exact: true }).tap();
  await page.getByRole("region", { name: /^Idle/ }).getByRole("article", { name: asking }).waitFor();
  const bar = page.getByRole("navigation", { name: "Bottom" });
  await bar.getByRole("link", { name: "New" }).tap();
  await page.getByRole("button", { name: "Start session" }).waitFor();
  await expectNoSideways(page);
  await bar.getByRole("link", { name: "Settings" }).tap();
  await page.getByRole("heading", { name: "Doctor" }).waitFor();
  await page.getByRole("button", { name: `Restart ${idle}` }).waitFor();
  await expectNoSideways(page);
  await expectPressable(page);
  await bar.getByRole("button", { name: "Search" }).tap();
  const search = page.getByLabel("Search sessions");
  await until("the search to have the keyboard", () => search.evaluate((node) => node === document.activeElement));
  await page.keyboard.type(idle);
  await page.getByRole("article", { name: asking }).waitFor({ state: "hidden" });

  await home.call("stop", idle, { body: {} });
  await page.getByRole("article", { name: idle }).getByRole("link").first().tap();
  await page.getByRole("link", { name: "Why did it end?" }).waitFor();
  for (const view of ["Chat", "Changes", "Events"]) {
    await page.getByRole("navigation", { name: "Session views" }).getByRole("link", { name: view }).tap();
    await page.getByRole("main").getByText("Loading …").first().waitFor({ state: "hidden" });
    await expectNoSideways(page);
    await expectPressable(page);
  }
});

test.each([
  ["a wide screen", desktop],
  ["a phone", phone],
] as const)("[WEB-10] every verb of a card explains its effect and works, on %s", async (_, viewport) => {
  await using home = await ChatHome.open();
  const id = await home.chat("edit: notes.md not committed");
  await home.ended(id);
  await using tab = await openDashboard(home, { viewport });
  const { page } = tab;
  const wants = (intent: string) =>
    until(`${id} to be ${intent}`, async () => (await home.show(id)).intent.want === intent);
  const verb = async (name: string, says: RegExp, button = name): Promise<void> => {
    const item = page.getByRole("menuitem", { name: new RegExp(`^${name}`) });
    // A card that moves to another column closes its menu: open it again.
    await until(
      `${name} in the menu`,
      async () => {
        if ((await item.count()) === 0) {
          await page.keyboard.press("Escape");
          await page.getByRole("button", { name: `Actions for ${id}` }).click({ timeout: againMs });
        }
        await item.click({ timeout: againMs });
        return true;
      },
      stepMs,
    );
    const dialog = page.getByRole("dialog");
    await dialog.getByText(says).first().waitFor();
    await dialog.getByRole("button", { name: new RegExp(`^${button}`) }).click();
    // Text worth reading (where work is kept) stays until it is dismissed.
    await until(
      "the dialog to be done",
      async () => {
        if ((await dialog.count()) === 0) return true;
        if ((await dialog.locator("form").count()) === 0) await page.keyboard.press("Escape");
        return false;
      },
      stepMs,
    );
  };
  await verb("Stop", /Stops the session gracefully/);
  await wants("stopped");
  await verb("Restore", /in its own conversation/);
  await wants("running");
  await verb("Snooze", /until a time/);
  await wants("snoozed");
  await verb("Wake", /Ends the snooze/);
  await wants("running");
  await verb("Archive", /moves it to Ended/);
  await wants("archived");
  await verb("Unarchive", /out of the archive/);
  await wants("running");
  await verb("Kill", /moves the worktree to the trash/);
  await wants("killed");
  await verb("Restore", /from the trash/);
  await wants("running");
  await verb("Delete", /cannot be restored/);
  await page.getByRole("article", { name: id }).waitFor({ state: "hidden" });
});

async function expectPressable(page: Page): Promise<void> {
  const small = await page.evaluate((least) => {
    const all = [
      ...document.querySelectorAll<HTMLElement>(
        // A card's title is a link as large as the card.
        "button, select, input[type=search], header a, nav a, main a:not(h3 a)",
      ),
    ];
    return all
      .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < least)
      .map((one) => `${one.ariaLabel ?? one.textContent} ${one.getBoundingClientRect().height}`);
  }, leastPx);
  expect(small).toEqual([]);
}
