/** An idle page: no view sends requests repeatedly. */
import { expect, test } from "vitest";
import { ChatHome } from "../harness/chat.ts";
import { until } from "../harness/until.ts";
import { openDashboard, useBrowser } from "./browser.ts";

useBrowser();

/** Longer than every legitimate pause of the page: preloading code, saving a draft, updating ages. */
const watchedMs = 5_000;

/** Thirteen views are opened together, on two cores. */
const patienceMs = 45_000;

test("[WEB-30] no view sends requests while idle, and none violates the content security policy", async () => {
  await using home = await ChatHome.open();
  const chat = await home.chat("think: a while\ntool: echo hello\nedit: notes.md words\nsay: **done**");
  const { id: terminal } = await home.call("spawn", "-", {
    body: { project: "my-app", agent: "demo", kind: "terminal", prompt: "say: hello" },
  });
  await home.ended(chat);
  await home.status(terminal, "idle");
  const killed = await home.chat("say: bye");
  await home.ended(killed);
  await home.call("kill", killed, { body: {} });
  const views = ["/", "/new", "/settings", "/trash"].concat(
    [chat, terminal, killed].flatMap((id) => ["", "/changes", "/events"].map((view) => `/s/${id}${view}`)),
  );
  await using tab = await openDashboard(home);
  const { context } = tab;
  const origin = new URL(tab.page.url()).origin;
  const asked = new Map<string, string[]>(views.map((view) => [view, []]));
  // All stay open: they have nothing to do, and the pause is long.
  for (const view of views) {
    const page = await context.newPage();
    page.on("request", (request) => {
      if (request.url().includes("/api/")) asked.get(view)!.push(request.url().slice(origin.length));
    });
    await page.goto(`${origin}${view}`);
    await page.getByRole("main").waitFor();
    await page.getByRole("main").getByText("Loading …").first().waitFor({ state: "hidden" });
  }
  let [seen, since] = ["", Date.now()];
  await until(
    "all to be quiet",
    () => {
      const now = JSON.stringify([...asked]);
      if (now !== seen) [seen, since] = [now, Date.now()];
      return Date.now() - since > watchedMs;
    },
    patienceMs,
  );
  for (const [view, requests] of asked) expect(new Set(requests).size, view).toBe(requests.length);
});
