import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { ChatHome } from "../harness/chat.ts";
import { until } from "../harness/until.ts";
import { desktop, expectAccessible, expectNoSideways, openDashboard, phone, useBrowser } from "./browser.ts";

useBrowser();

/** Opens the menu, chooses the verb, and returns the dialog that explains it. */
async function choose(page: Page, id: string, verb: string) {
  // A message may cover the corner on a phone. All in one step: each also disappears on its own, while another is pressed.
  await page
    .getByRole("button", { name: "Dismiss" })
    .evaluateAll((all: HTMLElement[]) => all.forEach((x) => x.click()));
  await page.getByRole("button", { name: `Actions for ${id}` }).click();
  await page.getByRole("menuitem", { name: verb, exact: true }).click();
  return page.getByRole("dialog", { name: `${verb} ${id}` });
}

async function act(page: Page, id: string, verb: string, effect: RegExp): Promise<void> {
  const dialog = await choose(page, id, verb);
  await dialog.getByText(effect).waitFor();
  await dialog.getByRole("button", { name: verb, exact: true }).click();
  await dialog.waitFor({ state: "hidden" });
}

test.each([
  ["a desktop", desktop],
  ["a phone", phone],
])(
  "[WEB-32] every verb of the session page explains itself, then runs, on %s",
  async (_, viewport) => {
    await using home = await ChatHome.open();
    const id = await home.chat("say: hello");
    await home.ended(id);
    const { workspacePath } = await home.show(id);
    await using tab = await openDashboard(home, { path: `/s/${id}`, viewport });
    const { page } = tab;
    await page.getByRole("heading", { level: 1 }).waitFor();

    await act(page, id, "Stop", /Stops the session gracefully. The worktree, branch and conversation are kept/);
    await home.status(id, "stopped");
    await page.getByText("Stopped by you").waitFor();
    await act(page, id, "Restore", /Starts the agent again in its own conversation/);
    await home.status(id, "idle");

    const snooze = await choose(page, id, "Snooze");
    await snooze.getByLabel("Until").selectOption("in three hours");
    await snooze.getByRole("button", { name: "Snooze", exact: true }).click();
    const { intent } = await home.status(id, "snoozed");
    expect(Date.parse(intent.until!) - Date.parse(intent.at!)).toBeGreaterThan(2.9 * 3_600_000);
    await page.getByText("Snoozed until").waitFor();
    await act(page, id, "Wake", /Ends the snooze/);
    await home.status(id, "idle");

    await act(page, id, "Archive", /moves it to Ended/);
    await home.status(id, "archived");
    await act(page, id, "Unarchive", /Takes it out of the archive/);
    await home.status(id, "idle");

    const agent = await home.pidOf(id, "agent");
    await act(page, id, "Restart agent", /starts a new one in the same conversation/);
    await until("another agent", async () => (await home.pidOf(id, "agent")) !== agent);

    const rename = await choose(page, id, "Rename");
    await rename.getByLabel("Title").fill("A better title");
    await rename.getByRole("button", { name: "Rename", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "A better title" }).waitFor();

    writeFileSync(join(workspacePath, "only-here.txt"), "work\n");
    const kill = await choose(page, id, "Kill");
    await kill.getByText("This work exists nowhere else: 1 uncommitted file").waitFor();
    await kill.getByText(/trash/).first().waitFor();
    await expectAccessible(page);
    await kill.getByRole("button", { name: "Cancel" }).click();
    expect((await home.show(id)).intent.want).toBe("running");
    await (await choose(page, id, "Kill")).getByRole("button", { name: /^Kill and keep the work/ }).click();
    await page
      .getByRole("dialog", { name: `${id} killed` })
      .getByText(/1 uncommitted file kept in the trash/)
      .waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).last().click();
    expect((await home.show(id)).workspace).toBe("trashed");

    await page.getByRole("link", { name: "Events", exact: true }).click();
    await page.getByRole("region", { name: "Files in the trash" }).getByText(workspacePath).waitFor();
    await page.getByRole("region", { name: "Files in the trash" }).getByRole("button", { name: "Restore" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Restore" }).click();
    await home.status(id, "idle");
    expect(existsSync(join(workspacePath, "only-here.txt"))).toBe(true);

    const convert = await choose(page, id, "Convert to terminal");
    await convert.getByRole("checkbox", { name: /Start a new conversation/ }).check();
    await convert.getByRole("button", { name: "Convert to terminal" }).click();
    const converted = page.getByRole("dialog", { name: `${id} converted` });
    await converted.getByText("Conversation context reset").waitFor();
    await converted.getByRole("button", { name: "Close" }).last().click();
    await page.getByRole("link", { name: "Terminal", exact: true }).click();
    await page.getByText("Attached: your input").waitFor();
    await expectNoSideways(page);

    const remove = await choose(page, id, "Delete");
    await remove.getByText(/cannot be restored; its files can/).waitFor();
    await remove.getByText("This work exists nowhere else").waitFor();
    await remove.getByRole("button", { name: /^Delete and keep/ }).click();
    await page
      .getByRole("dialog", { name: `${id} deleted` })
      .getByText(/trash restore/)
      .waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).last().click();
    await page.getByRole("heading", { name: `${id} was deleted` }).waitFor();
    await page.getByRole("button", { name: "Restore files" }).click();
    await until("the files to be back", () => existsSync(join(workspacePath, "only-here.txt")));
  },
  150_000,
);

test("[WEB-31] the session page shows its facts, is renamed in place and copied from", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat();
  await using tab = await openDashboard(home, {
    path: `/s/${id}`,
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const { page } = tab;
  const session = await home.show(id);
  await page.getByText(session.branch!, { exact: true }).first().waitFor();
  await page.getByRole("button", { name: "Copy attach command" }).click();
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await until("the copy", async () => (await copied()) === `holdfast attach ${id}`);
  await page.getByRole("button", { name: "Edit title" }).click();
  await page.getByRole("textbox", { name: "Title" }).fill("Named where it stands");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Named where it stands" }).waitFor();
  expect((await home.show(id)).title).toBe("Named where it stands");
  await expectAccessible(page);
});

test("[WEB-33] the events view shows why a session ended, its processes, and its log, filtered and in pages", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: hello");
  await home.ended(id);
  await using tab = await openDashboard(home, { path: `/s/${id}/events` });
  const { page } = tab;
  const processes = page.getByRole("region", { name: "Processes" });
  await processes.getByRole("cell", { name: String(await home.pidOf(id, "agent")), exact: true }).waitFor();
  // Enough for more than one page of the log.
  for (let index = 0; index < 210; index++) {
    await home.call("rename", id, { body: { title: `Title ${index}` } });
  }
  await page.getByText("Renamed by you: Title 209").waitFor();
  await page.reload();
  await page.getByText("Renamed by you: Title 209").waitFor();
  expect(await page.getByText("session.created").count()).toBe(0);
  await page.getByRole("button", { name: "Load older events" }).click();
  await page.getByRole("combobox", { name: "Event type" }).selectOption("agent");
  await until("only the agent's", async () => (await page.getByText("session.renamed").count()) === 0);
  await page.getByRole("combobox", { name: "Event type" }).selectOption("");
  await page.getByRole("searchbox", { name: "Filter events" }).fill("created");
  await page.getByRole("button", { name: /session.created/ }).click();
  await page.getByText('"type": "session.created"').waitFor();

  const first = await home.pidOf(id, "agent");
  process.kill(first, "SIGSEGV");
  // It is restarted immediately, and the record of the crash stays in the log.
  await page.getByRole("searchbox", { name: "Filter events" }).fill("run.ended");
  await page.getByText(/Exited \(crash\), SIGSEGV, after/).waitFor();
  await until("the next agent", async () => (await home.pidOf(id, "agent")) !== first);
  await home.call("stop", id, { body: {} });
  const death = page.getByRole("region", { name: "Why did it end?" });
  await death.getByText("Holdfast stopped the agent, as requested.").waitFor();
  await death.getByText("you", { exact: true }).waitFor();
  await processes.getByText("No running processes.").waitFor();
  await expectAccessible(page);
});

test("[WEB-35] deleted, unknown and failed sessions each show a message and a way forward", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat();
  // The page's pending requests about a session that is deleted meanwhile return 404.
  await using tab = await openDashboard(home, { path: `/s/${id}`, expected: /status of 404/ });
  const { page } = tab;
  await page.getByRole("heading", { level: 1 }).waitFor();
  await home.call("delete", id, { body: {} });
  await page.getByText("It was deleted while this page was open").waitFor();
  await page.getByRole("link", { name: "Go to the board" }).click();
  await page.goto(new URL("/s/missing-1", page.url()).href);
  await page.getByRole("heading", { name: "There is no session missing-1" }).waitFor();
  await page.getByRole("link", { name: "Go to the board" }).waitFor();
  await expectAccessible(page);

  const failing = await home.chat();
  await page.goto(new URL(`/s/${failing}`, page.url()).href);
  // Three crashes in a minute: no restart.
  for (let crash = 0; crash < 3; crash++) {
    // The list may still contain the one that was just killed.
    await until("an agent to kill", async () => process.kill(await home.pidOf(failing, "agent"), "SIGKILL"));
    await until("its end", async () => (await home.ofType(failing, "run.ended")).length > crash);
  }
  await home.status(failing, "failed");
  await page.getByText("Holdfast stopped restarting it").waitFor();
  await page.getByRole("link", { name: "Why did it end?" }).click();
  await page.getByRole("region", { name: "Why did it end?" }).getByText("SIGKILL").waitFor();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Restore" }).click();
  await home.status(failing, "idle");
});
