import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { ChatHome } from "../harness/chat.ts";
import { until } from "../harness/until.ts";
import { PushService } from "../push/push-service.ts";
import { expectAccessible, logIn, openDashboard, openTab, useBrowser } from "./browser.ts";
import { deliver, noteShown, shown, subscribeThere } from "./push-parts.ts";

useBrowser();
const name = "Push to this browser, even when no tab is open";
const section = (page: Page) => page.getByRole("region", { name: "Notifications", exact: true });

test("[NOTIFY-14] if push is not possible, the settings show why and what to do", async () => {
  await using home = await ChatHome.open();
  await using refused = await openTab();
  await refused.context.addInitScript(() => Object.defineProperty(Notification, "permission", { value: "denied" }));
  await logIn(refused.page, home, "/settings");
  await section(refused.page).getByText("Notifications are blocked for this site").waitFor();
  await section(refused.page).getByText("Push requires notifications.").waitFor();
  expect(await section(refused.page).getByRole("switch", { name }).isDisabled()).toBe(true);

  // Chromium has no push in the private windows of a test, and logs that to the console.
  const expected = /does not support the Push API in incognito mode/;
  await using allowed = await openDashboard(home, { permissions: ["notifications"], path: "/settings", expected });
  const turn = section(allowed.page).getByRole("switch", { name });
  await turn.click();
  await section(allowed.page).getByText("This browser could not reach a push service (Registration failed").waitFor();
  await until("the switch to be off", async () => (await turn.isEnabled()) && !(await turn.isChecked()));
  expect((await home.call("push", "")).browsers).toEqual([]);
  await expectAccessible(allowed.page);
});

test("[NOTIFY-12, NOTIFY-14, NOTIFY-15] push is turned on, tested and shown once; a click opens the session; logging out ends it", async () => {
  await using service = await PushService.open();
  await using home = await ChatHome.open();
  const here = service.browser("here");
  await home.call("pushSubscribe", "", { body: service.browser("other").subscription("Safari on iPhone") });
  await using tab = await openTab({ permissions: ["notifications"], expected: /status of 4\d\d/ });
  const { page, context } = tab;
  await subscribeThere(page, here.subscription());
  await logIn(page, home, "/settings");
  const turn = section(page).getByRole("switch", { name });
  await turn.click();
  const list = section(page).getByRole("list", { name: "Browsers with push" });
  await list.getByRole("listitem").filter({ hasText: "this browser" }).getByText("Chrome on Linux").waitFor();
  await section(page).getByRole("button", { name: "Turn on notifications" }).click();
  await section(page).getByRole("button", { name: "Turn off notifications" }).waitFor();
  await expectAccessible(page);

  const origin = new URL(page.url()).origin;
  const cdp = await context.newCDPSession(page);
  await list.getByRole("button", { name: "Send test to Chrome on Linux" }).click();
  await page.getByText("Test sent to").waitFor();
  const wasShown = await noteShown(context);
  // While the page is visible, a test push is shown, and the page's own alerts are not.
  await deliver(cdp, origin, here.read().at(-1));
  await wasShown("Push works in this browser.");
  expect(await shown(page)).toHaveLength(1);
  const known = await home.chat("ask: while you look");
  await until("the push", () => here.received().length === 2);
  await deliver(cdp, origin, here.read().at(-1));
  expect(here.read().at(-1)).toMatchObject({ session: known });
  await deliver(cdp, origin, { test: true, title: "behind it", text: "" });
  await wasShown("behind it");
  expect(await shown(page)).toMatchObject([{ title: "behind it" }]);

  // While it is hidden, the page notifies through the worker, and the push replaces that notification.
  await page.evaluate(() => {
    Object.defineProperty(document, "visibilityState", { value: "hidden" });
    document.dispatchEvent(new Event("visibilitychange"));
  });
  const id = await home.chat("ask: while you are away");
  const of = async () => (await shown(page)).filter(({ tag }) => tag === `holdfast:${id}`);
  await wasShown("while you are away");
  expect(await of()).toHaveLength(1);
  await until("the push", () => here.received().length === 3);
  await page.goto("about:blank");
  await deliver(cdp, origin, here.read().at(-1));
  await wasShown(`${id}: needs you`);
  await page.goto(`${origin}/settings`);
  expect(await of()).toMatchObject([{ title: `${id}: needs you` }]);

  // Only the desktop can click it; a click is simulated in the worker.
  const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent("serviceworker"));
  await worker.evaluate(`(async () => {
    WindowClient.prototype.focus = async () => undefined;
    const [notification] = await registration.getNotifications({ tag: "holdfast:${id}" });
    dispatchEvent(new NotificationEvent("notificationclick", { notification }));
  })()`);
  await page.waitForURL(`**/s/${id}`);

  await page.goto(`${origin}/settings`);
  await list.getByRole("button", { name: "Remove Safari on iPhone" }).click();
  await list.getByText("Safari on iPhone").waitFor({ state: "hidden" });
  await turn.click();
  await list.waitFor({ state: "hidden" });
  expect((await home.call("push", "")).browsers).toEqual([]);
  await turn.click();
  await list.getByText("this browser").waitFor();
  // Removed elsewhere: the page notices when it is opened.
  const [mine] = (await home.call("push", "")).browsers;
  await home.call("pushRemove", mine!.id);
  await page.reload();
  await page.getByText("Push to this browser is off: the subscription was removed").waitFor();
  await turn.click();
  await list.getByText("this browser").waitFor();
  await page.getByRole("button", { name: "Log out this browser" }).click();
  await page.getByText("This browser is logged out.").waitFor();
  expect((await home.call("push", "")).browsers).toEqual([]);
});
