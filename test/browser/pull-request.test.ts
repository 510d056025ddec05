import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { TrackedHome } from "../harness/tracked.ts";
import { expectAccessible, openDashboard, useBrowser } from "./browser.ts";

useBrowser();

const card = (page: Page, id: string) => page.getByRole("article", { name: new RegExp(`^${id} `) });

test("[WEB-26, WEB-27, WEB-28] a pull request from its first check to its approval, and a failing tracker", async () => {
  await using home = await TrackedHome.start();
  const { github } = home;
  github.reviewRequired = true;
  const { id, branch, sha } = await home.worked();
  const number = github.openPullRequest({ branch, sha, title: "Mend the roof", draft: true });
  const url = `${github.url}/owner/app/pull/${number}`;
  github.setCheck(number, "lint", "failed");
  github.setCheck(number, "unit", "pending");
  await home.refresh();
  await using tab = await openDashboard(home);
  const { page } = tab;
  const marks = card(page, id);
  await marks.getByText("CI 1 failed: lint", { exact: true }).waitFor();
  await marks.getByText("draft", { exact: true }).waitFor();
  await marks.getByText("review required", { exact: true }).waitFor();
  expect(await marks.getByRole("link", { name: `PR #${number}` }).getAttribute("href")).toBe(url);
  await expectAccessible(page);

  github.setDraft(number, false);
  github.setCheck(number, "lint", "passed");
  github.review(number, "changes_requested");
  github.setConflict(number, true);
  await home.refresh();
  await marks.getByText("CI 1/2", { exact: true }).waitFor();
  await marks.getByText("changes requested", { exact: true }).last().waitFor();
  await marks.getByText("conflicts", { exact: true }).waitFor();

  // It is there for some seconds only, so it is looked for before it is made.
  const shown = page
    .getByRole("status")
    .filter({ hasText: `${id}: approved and green` })
    .waitFor();
  github.setCheck(number, "unit", "passed");
  github.setConflict(number, false);
  github.review(number, "approved");
  await home.refresh();
  await shown;
  await marks.getByText("CI passed", { exact: true }).waitFor();
  await marks.getByText("approved", { exact: true }).waitFor();

  await page.goto(new URL(`/s/${id}/events`, page.url()).href);
  await page.getByText("Mend the roof", { exact: true }).waitFor();
  await page.getByText(/^updated/).waitFor();
  await page.getByText("Reaction approved-and-green: notified you.").waitFor();

  github.fail({ how: "status", status: 502 }, { times: 1000 });
  await home.refresh();
  await page.goto(new URL("/", page.url()).href);
  await page.getByText(/my-app: github owner\/app( fails|: polling paused).* 502/).waitFor();
  await marks.getByText("CI passed", { exact: true }).waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Trackers" }).click();
  await page
    .getByRole("region", { name: "Trackers" })
    .getByText(/^(failing|resting)$/)
    .waitFor();
});
