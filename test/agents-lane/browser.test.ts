import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openDashboard, useBrowser } from "../browser/browser.ts";
import { ChatLane, patienceMs } from "./chat-lane.ts";

useBrowser();

test("[WEB-48] a chat with claude: started from the form, streamed live, its permission request answered, its end shown", async () => {
  await using lane = await ChatLane.open("claude");
  await using tab = await openDashboard(lane.home);
  const { page } = tab;
  tab.context.setDefaultTimeout(patienceMs);
  await page.getByRole("link", { name: "Start a session" }).click();
  const script = "say: first **words**\ngate: seen\nsay: now asking\ntool: bash touch made\nsay: all done";
  await page.getByLabel("What should the agent do?").fill(script);
  await page.getByLabel("Agent", { exact: true }).selectOption("claude");
  await page.getByLabel("Kind").selectOption("chat");
  await page.getByRole("button", { name: "Start session" }).click();
  await page.waitForURL("**/s/ma-1");
  lane.id = "ma-1";

  const log = page.getByRole("log", { name: "Transcript" });
  const answers = log.getByRole("article", { name: "Answer" });
  // In the middle of the reply: the model waits at its gate.
  await answers.locator("strong").getByText("words", { exact: true }).waitFor();
  await page.getByText("Working", { exact: true }).first().waitFor();
  expect(await answers.filter({ hasText: "now asking" }).count()).toBe(0);
  lane.model.openGate("seen");
  await answers.filter({ hasText: "now asking" }).waitFor();

  const question = log.getByRole("article", { name: /^Permission request: .*touch made/ });
  const made = join((await lane.show()).workspacePath, "made");
  await page.getByText("Waiting for your answer").waitFor();
  expect(existsSync(made)).toBe(false);
  await question.getByRole("button", { name: "Allow", exact: true }).click();
  await question.getByText("Answered “Allow” by you").waitFor();

  await answers.filter({ hasText: "all done" }).waitFor();
  await log.getByText(/^Done/).waitFor();
  await page.getByText("Working", { exact: true }).first().waitFor({ state: "hidden" });
  expect(existsSync(made)).toBe(true);
  expect(await lane.seen("ma-1-first")).toMatchObject({ stopReason: "end_turn", ends: 1 });
});
