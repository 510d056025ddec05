import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ChatHome } from "../harness/chat.ts";
import { expectAccessible, openDashboard, useBrowser } from "./browser.ts";

useBrowser();

test("[TRUST-12, TRUST-5] the form and the settings show an untrusted file, and trust only the shown version", async () => {
  await using home = await ChatHome.open();
  const mark = join(home.directory, "ran");
  const write = (command: string): void => {
    const project = { prefix: "ma", env: { HOLDFAST_DEMO_GATES: home.gates }, postCreate: [`touch ${mark}`, command] };
    writeFileSync(join(home.repo, "holdfast.yaml"), JSON.stringify({ projects: { "my-app": project } }));
  };
  write("echo <b>one</b>\u202e");
  await using tab = await openDashboard(home, { path: "/new", expected: /status of 409/ });
  const { page } = tab;
  const card = page.getByRole("group", { name: "Trust in my-app" });
  await card.getByText(`touch ${mark}`).waitFor();
  await card.getByText('"echo <b>one</b>\\u202e"').waitFor();
  await expectAccessible(page);

  // It changes while the user reads it: the shown version is not the one that would be trusted.
  write("echo two");
  await card.getByRole("button", { name: "Trust this file" }).click();
  await card.getByRole("alert").filter({ hasText: "has changed since it was shown" }).waitFor();
  await card.getByText("echo two").waitFor();
  expect((await home.call("trust", "my-app")).state).toBe("changed");
  await card.getByRole("button", { name: "Use defaults" }).click();
  await card.getByRole("button", { name: "Use defaults" }).waitFor({ state: "hidden" });
  const declined = await home.chat("say: hello");
  await home.ended(declined);
  expect([(await home.call("trust", "my-app")).state, existsSync(mark)]).toEqual(["declined", false]);

  await page.goto(new URL("/settings", page.url()).href);
  await card.getByRole("button", { name: "Trust this file" }).click();
  await card.waitFor({ state: "hidden" });
  expect((await home.call("trust", "my-app")).state).toBe("trusted");
  await home.ended(await home.chat("say: hello"));
  expect(existsSync(mark)).toBe(true);
});
