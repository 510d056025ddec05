import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ChatHome } from "../harness/chat.ts";
import { until } from "../harness/until.ts";
import { expectAccessible, expectNoSideways, openDashboard, phone, useBrowser } from "./browser.ts";

useBrowser();

/** A worktree with every kind of change. */
async function changed(home: ChatHome): Promise<{ id: string; path: string }> {
  writeFileSync(join(home.repo, "kept.ts"), "export const one = 1;\nexport const two = 2;\n");
  writeFileSync(join(home.repo, "gone.ts"), "export const gone = true;\n");
  await home.git(home.repo, ["add", "kept.ts", "gone.ts"]);
  await home.git(home.repo, ["commit", "-q", "-m", "second"]);
  const id = await home.chat();
  const { workspacePath: path } = await home.show(id);
  writeFileSync(join(path, "committed.ts"), "export const committed = 1;\n");
  await home.git(path, ["rm", "-q", "gone.ts"]);
  await home.git(path, ["add", "committed.ts"]);
  await home.git(path, ["commit", "-q", "-m", "work"]);
  writeFileSync(join(path, "staged.ts"), "export const staged = 1;\n");
  await home.git(path, ["add", "staged.ts"]);
  writeFileSync(join(path, "kept.ts"), "export const one = 1;\nexport const two = 22;\n");
  writeFileSync(join(path, "loose.md"), "# Loose\n\u202egnp.exe\n");
  writeFileSync(join(path, "picture.bin"), Buffer.from([0, 1, 2, 255, 0, 3]));
  return { id, path };
}

test("[WEB-43] the changes view shows committed, staged, unstaged and untracked files and their diffs", async () => {
  await using home = await ChatHome.open();
  const { id, path } = await changed(home);
  await using tab = await openDashboard(home, { path: `/s/${id}/changes` });
  const { page } = tab;
  const files = page.getByRole("list", { name: "Changed files" });
  const file = (name: string) => files.getByRole("listitem").filter({ hasText: name });
  await file("committed.ts").getByText("committed", { exact: true }).waitFor();
  await file("staged.ts").getByText("staged", { exact: true }).waitFor();
  await file("kept.ts").getByText("unstaged", { exact: true }).waitFor();
  await file("loose.md").getByText("untracked", { exact: true }).first().waitFor();
  await file("gone.ts").getByText("deleted", { exact: true }).waitFor();
  await file("picture.bin").getByText("binary").waitFor();
  await page.getByText("export const committed = 1;").waitFor();
  await page.getByText("export const two = 22;").waitFor();
  // Bidirectional control characters are written out.
  await page.getByText("⟨U+202E⟩gnp.exe").waitFor();
  await expectAccessible(page);

  await page.getByRole("searchbox", { name: "Filter files" }).fill("kept");
  await until("one file", async () => (await files.getByRole("listitem").count()) === 1);
  await page.getByRole("searchbox", { name: "Filter files" }).fill("");
  await page.getByRole("combobox", { name: "Change type" }).selectOption("untracked");
  await until("the untracked ones", async () => (await files.getByRole("listitem").count()) === 2);
  await page.getByRole("combobox", { name: "Change type" }).selectOption("");
  await page.getByRole("button", { name: "Split" }).click();
  await page.emulateMedia({ colorScheme: "dark" });
  await page.getByText("export const two = 22;").waitFor();
  await expectAccessible(page);
  await page.getByText("export const two = 22;").waitFor();

  writeFileSync(join(path, "later.ts"), "export const later = 1;\n");
  // The agent did something: its changes appear without a reload.
  await home.turn(id, "say: done");
  await file("later.ts").waitFor();
});

test("[WEB-45] comments on lines survive a reload, can be changed, and reach the agent as one prompt", async () => {
  await using home = await ChatHome.open();
  const { id } = await changed(home);
  await using tab = await openDashboard(home, { path: `/s/${id}/changes` });
  const { page } = tab;
  await page.getByText("export const two = 22;").waitFor();
  await page.getByRole("button", { name: "Comment on kept.ts" }).click();
  const dialog = page.getByRole("dialog", { name: "Comment on a line" });
  await dialog.getByLabel("Line", { exact: true }).fill("99");
  await dialog.getByText("This line is not in the diff.").waitFor();
  await dialog.getByLabel("Line", { exact: true }).fill("2");
  await dialog.getByLabel("Comment", { exact: true }).fill("Why twenty-two?");
  await dialog.getByRole("button", { name: "Save comment" }).click();
  await page.getByRole("button", { name: "Comment on staged.ts" }).click();
  await dialog.getByLabel("Comment", { exact: true }).fill("Remove this");
  await dialog.getByRole("button", { name: "Save comment" }).click();
  await page.getByRole("button", { name: "2 comments" }).click();
  await expectAccessible(page);

  await page.reload();
  await page.getByRole("button", { name: "2 comments" }).click();
  const bar = page.getByRole("region", { name: "Comments" });
  await bar.getByRole("button", { name: "Edit comment on staged.ts:1" }).click();
  await bar.getByRole("textbox", { name: "Comment on staged.ts:1" }).fill("say: reviewed");
  await bar.getByRole("button", { name: "Save comment" }).click();
  await page.getByRole("button", { name: "Send to agent" }).click();
  await home.says(id, "reviewed");
  const [prompt] = await home.ofType(id, "prompt.admitted");
  expect(prompt?.["text"]).toBe(
    "2 comments on your changes:\n\n1. kept.ts:2\n> export const two = 22;\nWhy twenty-two?\n\n2. staged.ts:1\n> export const staged = 1;\nsay: reviewed",
  );
  await until("the comments to be cleared", async () => (await bar.count()) === 0);
  await page.reload();
  await page.getByText("export const two = 22;").waitFor();
  expect(await bar.count()).toBe(0);
});

test("[WEB-46] a press on a line number opens a comment there, also on a phone", async () => {
  await using home = await ChatHome.open();
  const { id } = await changed(home);
  const { workspacePath } = await home.show(id);
  // Wider than the screen: it must be scrollable sideways by keyboard too.
  writeFileSync(join(workspacePath, "wide.ts"), `export const wide = "${"wide ".repeat(40)}";\n`);
  await using tab = await openDashboard(home, { path: `/s/${id}/changes`, viewport: phone });
  const { page } = tab;
  await page.getByText("export const committed = 1;").waitFor();
  await page.locator('[data-column-number="1"]').first().tap();
  await page.getByRole("textbox", { name: "Comment on committed.ts:1" }).fill("From a phone");
  await page.getByRole("button", { name: "Save comment" }).tap();
  await page.getByText("From a phone").waitFor();
  await until("one comment", async () => (await page.getByRole("button", { name: "1 comment" }).count()) === 1);
  await expectNoSideways(page);
  await expectAccessible(page);
});

test("[WEB-47] a patch of ten thousand lines is drawn only where visible, without requests while idle", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat();
  const { workspacePath } = await home.show(id);
  const lines = Array.from({ length: 9_600 }, (_, index) => `export const value${index} = ${index};`);
  writeFileSync(join(workspacePath, "long.ts"), `${lines.join("\n")}\n`);
  await using tab = await openDashboard(home, { path: `/s/${id}/changes` });
  const { page } = tab;
  await page.getByText("export const value1 = 1;").waitFor();
  expect(await page.locator("[data-line]").count()).toBeLessThan(1_500);
  const asked: string[] = [];
  page.on("request", (request) => void asked.push(request.url()));
  await page.getByText("export const value1 = 1;").hover();
  await until("the end to be drawn", async () => {
    await page.mouse.wheel(0, 40_000);
    return (await page.getByText("export const value9599 = 9599;").count()) > 0;
  });
  expect(await page.locator("[data-line]").count()).toBeLessThan(1_500);
  expect(asked.filter((url) => url.includes("/api/"))).toEqual([]);
});
