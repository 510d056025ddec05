import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ChatHome } from "../harness/chat.ts";
import { expectAccessible, openDashboard, useBrowser } from "./browser.ts";

useBrowser();

test("[WEB-8, WEB-9, WEB-24] new session: problems are shown first, then each step, then the session", async () => {
  await using home = await ChatHome.open();
  await using tab = await openDashboard(home, { expected: /status of 4\d\d/ });
  const { page } = tab;
  await page.getByRole("link", { name: "Start a session" }).click();
  await page.getByLabel("What should the agent do?").fill("say: hello from the form\nask: shall I?");
  await page.getByLabel("Agent", { exact: true }).selectOption("claude");
  await page.getByRole("status").filter({ hasText: "Fix these problems first" }).waitFor();
  expect(await page.getByRole("button", { name: "Start session" }).isDisabled()).toBe(true);
  await expectAccessible(page);
  await page.getByLabel("Agent", { exact: true }).selectOption("demo");
  await page.getByLabel("Kind").selectOption("chat");
  await page.getByLabel("Branch").fill("main..bad");
  await page.getByText("Fix these problems first").waitFor();
  await page.getByLabel("Branch").fill("try-it");
  await page.getByText("Fix these problems first").waitFor({ state: "hidden" });
  await page.getByLabel("Title").fill("From the form");

  // A reload keeps the typed text.
  await page.reload();
  expect(await page.getByLabel("What should the agent do?").inputValue()).toBe(
    "say: hello from the form\nask: shall I?",
  );
  expect(await page.getByLabel("Branch").inputValue()).toBe("try-it");

  home.arm("launch.recorded", "pause");
  await page.getByRole("button", { name: "Start session" }).click();
  await page.getByText("Session ma-1 created").waitFor();
  home.disarm("launch.recorded");
  await page.waitForURL("**/s/ma-1");
  const session = await home.status("ma-1", "needs_input");
  expect([session.title, session.kind, session.branch]).toEqual(["From the form", "chat", "try-it"]);
  await page.goto(new URL("/new", page.url()).href);
  expect(await page.getByLabel("What should the agent do?").inputValue()).toBe("");
});

test("[WEB-9] an agent that does not start is shown with its last lines, and the form keeps its inputs", async () => {
  await using home = await ChatHome.open({ broken: { program: "exits-at-once" } });
  await using tab = await openDashboard(home, { path: "/new" });
  const { page } = tab;
  await page.getByLabel("What should the agent do?").fill("something long and dear");
  await page.getByLabel("Agent", { exact: true }).selectOption("broken");
  await page.getByLabel("Kind").selectOption("chat");
  await page.getByRole("button", { name: "Start session" }).click();
  await page.getByRole("alert").getByRole("button", { name: "Back to the form" }).click();
  expect(await page.getByLabel("What should the agent do?").inputValue()).toBe("something long and dear");
  await page.getByRole("button", { name: "Start session" }).waitFor();
});

test("[WEB-9] a refused spawn shows its error in the form", async () => {
  await using home = await ChatHome.open();
  await using tab = await openDashboard(home, { path: "/new", expected: /status of 4\d\d/ });
  const { page } = tab;
  await page.getByLabel("What should the agent do?").fill("dear words");
  await page.getByLabel("Agent", { exact: true }).selectOption("demo");
  await page.getByLabel("Issue").fill("12");
  // The file is broken between the check and the button.
  await page.getByText("Session id: ma-12").waitFor();
  writeFileSync(join(home.repo, "holdfast.yaml"), "projects: [");
  await page.getByRole("button", { name: "Start session" }).click();
  await page.getByRole("alert").filter({ hasText: "holdfast.yaml" }).waitFor();
  expect(await page.getByLabel("What should the agent do?").inputValue()).toBe("dear words");
});
