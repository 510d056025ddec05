/** The dashboard as a phone sees it: by its public name over https, through nginx. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";
import { ChatHome } from "../harness/chat.ts";
import { freePort, openTlsProxy } from "../harness/tls-proxy.ts";
import { until } from "../harness/until.ts";
import { PushService } from "../push/push-service.ts";
import { loginLink, openTab, phone, useBrowser } from "./browser.ts";
import { deliver, noteShown, shown, subscribeThere } from "./push-parts.ts";

const directory = mkdtempSync(join(tmpdir(), "hf-https-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const certificate = makeCertificate(directory, "box", "box.example");
// Trusted by its key, so that the page is a secure context with a service worker, as with a public certificate.
useBrowser(() => [
  "--host-resolver-rules=MAP box.example 127.0.0.1",
  `--ignore-certificate-errors-spki-list=${certificate.spki}`,
]);
const passphrase = "four words for nginx";

test("[REMOTE-11, REMOTE-3, NOTIFY-15] through a TLS proxy a phone logs in, follows live, and receives pushes; forged addresses do not help guessing", async () => {
  await using service = await PushService.open();
  await using home = await ChatHome.open();
  const port = await freePort();
  const origin = `https://box.example:${port}`;
  const secret = join(home.directory, "secret");
  writeFileSync(secret, `${passphrase}\n`);
  await home.ok(["stop"]);
  await home.ok(["start", "--port", "0", "--public-url", origin, "--passphrase-file", secret]);
  await using _proxy = await openTlsProxy({ directory, certificate, port, target: home.daemon().url });

  await using tab = await openTab({ viewport: phone, permissions: ["notifications"] });
  const { page, context } = tab;
  const here = service.browser("phone");
  await subscribeThere(page, here.subscription());
  const code = new URL(await loginLink(home)).hash;
  await page.goto(`${origin}/${code}`);
  await page.getByRole("banner").waitFor();
  expect(await page.evaluate(() => isSecureContext)).toBe(true);
  // By the stream alone: nothing else delivers it.
  const seen = await home.chat("ask: over the stream");
  await page.getByRole("article", { name: new RegExp(`^${seen} `) }).waitFor();
  // Recorded before this browser subscribes: otherwise it would be the first push.
  await until("its notification", async () => (await home.ofType(seen, "notification")).length > 0);

  await page.goto(`${origin}/settings`);
  const section = page.getByRole("region", { name: "Notifications", exact: true });
  await section.getByRole("switch", { name: "Push to this browser, even when no tab is open" }).click();
  await section.getByRole("listitem").filter({ hasText: "this browser" }).waitFor();
  const cdp = await context.newCDPSession(page);
  const wasShown = await noteShown(context);
  // The page is closed: the daemon calls the push service, which delivers it to the worker.
  await page.goto("about:blank");
  const id = await home.chat("ask: while the phone is in a pocket");
  await until("the push", () => here.received().length === 1);
  expect(here.read().at(-1)).toMatchObject({ session: id });
  await deliver(cdp, origin, here.read().at(-1));
  await wasShown(`${id}: needs you`);
  await page.goto(`${origin}/settings`);
  expect(await shown(page)).toContainEqual(expect.objectContaining({ tag: `holdfast:${id}` }));

  await using other = await openTab({ expected: /status of 4(01|29)/ });
  await other.page.goto(origin);
  const field = other.page.getByLabel("Passphrase");
  const alert = (text: string) => other.page.getByRole("alert").filter({ hasText: text }).waitFor();
  const give = async (words: string, from: string): Promise<void> => {
    await other.page.setExtraHTTPHeaders({ "X-Forwarded-For": from, Forwarded: `for=${from}` });
    await field.fill(words);
    await field.press("Enter");
  };
  for (const left of [4, 3, 2, 1]) {
    await give("a wrong guess", `203.0.113.${left}`);
    await alert(`${left} more before a pause.`);
  }
  await give(passphrase, "203.0.113.9");
  await other.page.getByRole("banner").waitFor();
});
