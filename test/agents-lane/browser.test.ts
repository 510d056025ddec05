/** A person at the dashboard with a real agent: its words, its question with its own answers, its mode and its change. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openDashboard, useBrowser } from "../browser/browser.ts";
import { until } from "../harness/until.ts";
import { ChatLane, patienceMs } from "./chat-lane.ts";

useBrowser();

test("[WEB-67] claude is talked to in the browser: it streams, asks, is answered, and its change is seen", async () => {
  await using lane = await ChatLane.open("claude");
  await lane.spawn("say: first words");
  await lane.ended("ma-1-first");
  await using tab = await openDashboard(lane.home, { path: `/s/${lane.id}` });
  const { page, context } = tab;
  context.setDefaultTimeout(patienceMs);
  const transcript = page.getByRole("log", { name: "Transcript" });
  await transcript.getByText("first words", { exact: true }).waitFor();
  await page.getByRole("combobox", { name: "Mode", exact: true }).waitFor();

  const composer = page.getByRole("textbox", { name: "Prompt" });
  await composer.fill("say: **begun**\ngate: ask\ntool: bash touch made");
  await composer.press("Enter");
  // Bold while the turn is still open.
  await transcript.getByRole("article", { name: "Answer" }).getByText("begun", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Cancel turn" }).waitFor();
  lane.model.openGate("ask");
  const question = page.getByRole("article", { name: /^Question: / });
  const { options } = await until("the question", async () => (await lane.show()).permissions[0], patienceMs);
  for (const { name } of options) await question.getByRole("button", { name, exact: true }).waitFor();
  expect(existsSync(join(lane.workspace, "made"))).toBe(false);
  const allow = options.find(({ kind }) => kind === "allow_once")!;
  await question.getByRole("button", { name: allow.name, exact: true }).click();
  await until("the turn to end", async () => (await lane.show()).status === "idle", patienceMs);
  expect(existsSync(join(lane.workspace, "made"))).toBe(true);
  await question.getByText(/^Answered/).waitFor();
  await page.getByRole("link", { name: "Changes" }).click();
  await page.getByText("made", { exact: true }).first().waitFor();
});
