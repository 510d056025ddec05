/** The parts of push outside the page: the browser vendor's, and the desktop's. */
import type { BrowserContext, CDPSession, Page } from "playwright-core";
import { until } from "../harness/until.ts";

/** The browser vendor's part: a subscription with the fake push service, until it is removed. */
export async function subscribeThere(page: Page, subscription: { endpoint: string; keys: object }): Promise<void> {
  await page.context().addInitScript((given) => {
    const key = "test:subscribed";
    const made = {
      endpoint: given.endpoint,
      options: {},
      toJSON: () => given,
      unsubscribe: () => Promise.resolve(localStorage.removeItem(key)),
    };
    PushManager.prototype.getSubscription = () =>
      Promise.resolve(localStorage.getItem(key) === null ? null : (made as unknown as PushSubscription));
    PushManager.prototype.subscribe = (options) => {
      const { length } = new Uint8Array(options?.applicationServerKey as ArrayBuffer);
      if (options?.userVisibleOnly !== true || length !== 65) throw new TypeError("not as a browser wants it");
      localStorage.setItem(key, "yes");
      return Promise.resolve(made as unknown as PushSubscription);
    };
  }, subscription);
}

/** Passes a push to the page's service worker, as the browser does. */
export async function deliver(cdp: CDPSession, origin: string, data: unknown): Promise<void> {
  const seen = Promise.withResolvers<string>();
  cdp.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
    const ours = registrations.find(({ scopeURL }) => scopeURL === `${origin}/`);
    if (ours !== undefined) seen.resolve(ours.registrationId);
  });
  await cdp.send("ServiceWorker.enable");
  const registrationId = await seen.promise;
  await cdp.send("ServiceWorker.deliverPushMessage", { origin, registrationId, data: JSON.stringify(data) });
  await cdp.send("ServiceWorker.disable");
}

/**
 * Records in the service worker which notifications are shown. Chromium forgets a notification that is listed while it is
 * being shown, so tests wait for this before they list.
 */
export async function noteShown(context: BrowserContext): Promise<(words: string) => Promise<void>> {
  const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent("serviceworker"));
  await worker.evaluate(`(() => {
    const show = ServiceWorkerRegistration.prototype.showNotification;
    self.noted = [];
    ServiceWorkerRegistration.prototype.showNotification = async function (title, options) {
      await show.call(this, title, options);
      self.noted.push(title + ": " + options.body);
    };
  })()`);
  let used = 0;
  return async (words) => {
    await until(`a notification with "${words}"`, async () => {
      const noted = await worker.evaluate<string[]>("self.noted");
      const at = noted.findIndex((text, index) => index >= used && text.includes(words));
      if (at !== -1) used = at + 1;
      return at !== -1;
    });
  };
}

/** The part that the browser shows. */
export const shown = (page: Page) =>
  page.evaluate(async () => {
    const worker = await navigator.serviceWorker.ready;
    return (await worker.getNotifications()).map(({ title, body, tag }) => ({ title, body, tag }));
  });
