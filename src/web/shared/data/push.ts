/**
 * This browser's push subscription: made with the browser's own push service, for the daemon's key, and then told to the
 * daemon. Which one is this browser's is kept here by the name that the daemon gave it.
 */
import { HoldfastError } from "../../../contract/error.ts";
import { call, sentenceOf } from "./api.ts";
import { browserName, isAppleTouch } from "./browser-name.ts";
import { live } from "./live.ts";
import { preferences } from "./preferences.ts";

/** A browser that has no way to its push service may try for ever. */
const deadlineMs = 30_000;

/** Why this browser cannot be called by push, and what to do; null where it can be tried. */
export function pushObstacle(): string | null {
  if (!("serviceWorker" in navigator) || !("PushManager" in globalThis) || !("Notification" in globalThis)) {
    return isAppleTouch()
      ? "Here only installed pages get pushes: add the dashboard to the home screen and open it from there."
      : "This browser has no push, or not in a private window.";
  }
  return Notification.permission === "denied" ? denied : null;
}

const denied =
  "This browser was told not to show notifications of this address. Allow them in its site settings, then come back.";

/** Null when it worked, else the sentence to show. Asks the browser, which asks the person. */
export async function subscribeHere(publicKey: string): Promise<string | null> {
  const obstacle = pushObstacle();
  if (obstacle !== null) return obstacle;
  const permission = await Notification.requestPermission();
  if (permission === "denied") return denied;
  if (permission !== "granted") return "Without your permission this browser shows no notifications. Try again.";
  try {
    const worker = await registration();
    const made = await withDeadline(fresh(worker, publicKey));
    return await tell(made);
  } catch (error) {
    return failure(error);
  }
}

export async function unsubscribeHere(): Promise<void> {
  const { push } = preferences.getState();
  preferences.setState({ push: null });
  const worker = await navigator.serviceWorker?.getRegistration();
  await (await worker?.pushManager?.getSubscription())?.unsubscribe();
  if (push !== null) await removeThere(push);
}

/**
 * A browser may give itself a new subscription, and the daemon's may be gone: looked at once when the page is opened.
 * What is said of it, or null.
 */
export async function keepSubscribed(): Promise<string | null> {
  const known = preferences.getState().push;
  if (known === null || pushObstacle() !== null) return null;
  const worker = await registration();
  const { publicKey, browsers } = await call("push");
  const made = await worker.pushManager.getSubscription();
  const same = made !== null && (await idOf(made)) === known;
  // Turned off or on meanwhile: that is newer than what was seen.
  if (preferences.getState().push !== known) return null;
  if (!browsers.some(({ id }) => id === known)) {
    await made?.unsubscribe();
    preferences.setState({ push: null });
    return "Push to this browser is off: it was removed, or its push service ended it. The settings turn it on again.";
  }
  // One that an earlier login made belongs to nobody; it is bound to this device.
  const isOurs = browsers.some(({ id, device }) => id === known && device === (live.getState().device?.id ?? device));
  if (same && isOurs) return null;
  const why = made === null ? await subscribeHere(publicKey) : await tell(made);
  if (why === null && preferences.getState().push !== known) await removeThere(known);
  return why === null ? null : `Push to this browser does not work any more. ${why}`;
}

async function registration(): Promise<ServiceWorkerRegistration> {
  await navigator.serviceWorker.register("/sw.js");
  return withDeadline(navigator.serviceWorker.ready);
}

/** One that was made for another key is of no use to this daemon. */
async function fresh(worker: ServiceWorkerRegistration, publicKey: string): Promise<PushSubscription> {
  const key = bytesOf(publicKey);
  const old = await worker.pushManager.getSubscription();
  const oldKey = new Uint8Array(old?.options.applicationServerKey ?? new ArrayBuffer(0));
  if (old !== null && oldKey.join() === key.join()) return old;
  await old?.unsubscribe();
  return worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
}

async function tell(made: PushSubscription): Promise<string | null> {
  const { endpoint = "", keys = {} } = made.toJSON();
  const body = {
    endpoint,
    keys: { p256dh: keys["p256dh"] ?? "", auth: keys["auth"] ?? "" },
    label: browserName(),
    origin: location.origin,
  };
  try {
    const { id } = await call("pushSubscribe", { body });
    preferences.setState({ push: id });
    return null;
  } catch (error) {
    await made.unsubscribe();
    return sentenceOf(error);
  }
}

/** Gone already is gone. */
async function removeThere(id: string): Promise<void> {
  try {
    await call("pushRemove", { params: { id } });
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== "not-found") throw error;
  }
}

function failure(error: unknown): string {
  if (error instanceof DOMException && error.name === "NotAllowedError") {
    return "This browser does not allow pushes here. They are off in private windows, and may be in its settings.";
  }
  const said = error instanceof Error && error.message !== "" ? ` (${error.message.replace(/\.$/, "")})` : "";
  return `This browser reached no push service${said}. Private windows have none, a network may block it, and some builds of Chromium come without; Firefox has its own.`;
}

async function withDeadline<T>(work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${deadlineMs / 1000} s`)), deadlineMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64url.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}

/** As the daemon names it (src/integrations/notifiers/web-push.ts). */
async function idOf({ endpoint }: PushSubscription): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(endpoint)));
  return btoa(String.fromCharCode(...digest))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .slice(0, 16);
}
