/**
 * This browser's push subscription: created with the browser's push service for the daemon's key, then registered with
 * the daemon. The preferences store the id that the daemon gave it.
 */
import { base64url } from "../../../client/signer.ts";
import { HoldfastError } from "../../../contract/errors.ts";
import { call, sentenceOf } from "./api.ts";
import { bytesOf } from "./device-key.ts";
import { browserName, isAppleTouch } from "./browser-name.ts";
import { live } from "./live.ts";
import { preferences } from "./preferences.ts";

/** A browser that cannot reach its push service may try forever. */
const deadlineMs = 30_000;

/** Why this browser cannot receive pushes, and what to do; null if it can be tried. */
export function pushObstacle(): string | null {
  if (!("serviceWorker" in navigator) || !("PushManager" in globalThis) || !("Notification" in globalThis)) {
    return isAppleTouch()
      ? "Push requires an installed app here: add the dashboard to the home screen and open it from there."
      : "This browser does not support push, or this is a private window.";
  }
  return Notification.permission === "denied" ? denied : null;
}

const denied = "Notifications are blocked for this site. Allow them in the browser's site settings, then try again.";

/** Null on success, else the message to show. Asks the browser, which asks the user. */
export async function subscribeHere(publicKey: string): Promise<string | null> {
  const obstacle = pushObstacle();
  if (obstacle !== null) return obstacle;
  const permission = await Notification.requestPermission();
  if (permission === "denied") return denied;
  if (permission !== "granted") return "This browser needs your permission to show notifications. Try again.";
  try {
    const worker = await serviceWorker();
    const made = await withDeadline(fresh(worker, publicKey));
    return await register(made);
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
 * Checked when the page is opened: the browser may have replaced its subscription, or the daemon may have dropped it.
 * Returns the message to show, or null.
 */
export async function keepSubscribed(): Promise<string | null> {
  const known = preferences.getState().push;
  if (known === null || pushObstacle() !== null) return null;
  const worker = await serviceWorker();
  const { publicKey, browsers } = await call("push");
  const made = await worker.pushManager.getSubscription();
  const same = made !== null && (await idOf(made)) === known;
  // Turned on or off meanwhile: that is newer.
  if (preferences.getState().push !== known) return null;
  if (!browsers.some(({ id }) => id === known)) {
    await made?.unsubscribe();
    preferences.setState({ push: null });
    return "Push to this browser is off: the subscription was removed, or its push service ended it. Turn it on again in Settings.";
  }
  // A subscription from an earlier login has no device: bind it to this one.
  const isOurs = browsers.some(({ id, device }) => id === known && device === (live.getState().device?.id ?? device));
  if (same && isOurs) return null;
  const why = made === null ? await subscribeHere(publicKey) : await register(made);
  if (why === null && preferences.getState().push !== known) await removeThere(known);
  return why === null ? null : `Push to this browser no longer works. ${why}`;
}

async function serviceWorker(): Promise<ServiceWorkerRegistration> {
  await navigator.serviceWorker.register("/sw.js");
  return withDeadline(navigator.serviceWorker.ready);
}

/** Replaces a subscription that was created for another daemon's key. */
async function fresh(worker: ServiceWorkerRegistration, publicKey: string): Promise<PushSubscription> {
  const key = bytesOf(publicKey);
  const old = await worker.pushManager.getSubscription();
  const oldKey = new Uint8Array(old?.options.applicationServerKey ?? new ArrayBuffer(0));
  if (old !== null && oldKey.join() === key.join()) return old;
  await old?.unsubscribe();
  return worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
}

async function register(made: PushSubscription): Promise<string | null> {
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

/** Ignores a subscription that no longer exists. */
async function removeThere(id: string): Promise<void> {
  try {
    await call("pushRemove", { params: { id } });
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== "not-found") throw error;
  }
}

function failure(error: unknown): string {
  if (error instanceof DOMException && error.name === "NotAllowedError") {
    return "This browser does not allow pushes here. They are disabled in private windows, and may be disabled in its settings.";
  }
  const detail = error instanceof Error && error.message !== "" ? ` (${error.message.replace(/\.$/, "")})` : "";
  return `This browser could not reach a push service${detail}. Private windows have none, a network may block it, and some Chromium builds lack one; Firefox has its own.`;
}

async function withDeadline<T>(work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no response within ${deadlineMs / 1000} s`)), deadlineMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** Must match the id in src/integrations/notifiers/web-push.ts. */
async function idOf({ endpoint }: PushSubscription): Promise<string> {
  return base64url(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(endpoint))).slice(0, 16);
}
