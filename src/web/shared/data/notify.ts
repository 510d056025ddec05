/**
 * Gets the user's attention: the count in the title and on the icon, and browser notifications if enabled. With several
 * tabs open only one of them notifies, and none while any of them is visible.
 */
import type { Status } from "../../../contract/ids.ts";
import { alertsFor, notificationAlerts, type Alert } from "./attention.ts";
import { live, needsYouCount, onChanges, onEvents } from "./live.ts";
import { preferences } from "./preferences.ts";

/** The page's icon with a count, as a data URL: the content security policy allows those for images. */
const most = 99;

function badgedIcon(count: number): string {
  const text = count > most ? `${most}+` : String(count);
  const width = 10 + text.length * 6;
  const svg = [
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">',
    '<rect width="32" height="32" rx="7" fill="#0f5c4d"/>',
    '<path d="M10 6v20M22 6v20M10 16h12" stroke="#fff" stroke-width="4" stroke-linecap="round"/>',
    `<rect x="${32 - width}" y="16" width="${width}" height="16" rx="8" fill="#d9480f"/>`,
    `<text x="${32 - width / 2}" y="28" font-family="sans-serif" font-size="12" font-weight="700" text-anchor="middle" fill="#fff">${text}</text>`,
    "</svg>",
  ].join("");
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

/** Lock held by the tab that notifies. */
const speaker = "holdfast:speaker";
/** Lock shared by visible tabs. */
const watched = "holdfast:watched";
/** The count may lag: not worth checking all sessions for each word of an agent. */
const countEveryMs = 250;

export type NotifyState = "on" | "off" | "denied" | "unsupported";

export function notifyState(): NotifyState {
  // Browsers offer it only to pages from this machine or over https.
  if (!("Notification" in globalThis) || !isSecureContext) return "unsupported";
  if (Notification.permission === "denied") return "denied";
  return preferences.getState().notify && Notification.permission === "granted" ? "on" : "off";
}

/** Asks the browser, which asks the user. */
export async function enableNotifications(): Promise<NotifyState> {
  if (notifyState() === "unsupported") return "unsupported";
  const permission = await Notification.requestPermission();
  preferences.setState({ notify: permission === "granted" });
  return notifyState();
}

/** `open` shows a session. */
export function startNotifying(open: (session: string) => void): void {
  let notifies = !("locks" in navigator);
  if (!notifies) {
    // Held until this tab closes; then the next tab notifies.
    void navigator.locks.request(speaker, () => {
      notifies = true;
      return new Promise(() => undefined);
    });
    holdWhileVisible();
  }
  const notify = (find: () => Alert[]): void => {
    // Reading the permission takes a millisecond in the browser's own process: skipped if notifications are off.
    if (!notifies || !preferences.getState().notify || notifyState() !== "on") return;
    const alerts = find();
    if (alerts.length > 0) void show(alerts, open);
  };
  onChanges((changes) => notify(() => alertsFor(changes)));
  onEvents("*", (events) => notify(() => notificationAlerts(events, statusNow)));
  navigator.serviceWorker?.addEventListener("message", (event: MessageEvent<{ open?: unknown }>) => {
    if (typeof event.data?.open === "string") open(event.data.open);
  });
}

export function statusNow(session: string): Status | undefined {
  return live.getState().sessions.get(session)?.status;
}

async function show(alerts: Alert[], open: (session: string) => void): Promise<void> {
  if (await anyTabVisible()) return;
  // A push reports the same thing at the same time: only the service worker can replace one with the other.
  const worker = preferences.getState().push === null ? null : (await navigator.serviceWorker?.ready)?.active;
  for (const alert of alerts) {
    if (worker) {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has one origin
      worker.postMessage({ notify: { title: alert.title, text: alert.text, session: alert.session } });
      continue;
    }
    const options = { body: alert.text, tag: alert.tag, icon: "/icon-192.png" };
    try {
      const shown = new Notification(alert.title, options);
      shown.addEventListener("click", () => {
        focus();
        shown.close();
        open(alert.session);
      });
    } catch {
      // Phones allow it only in the service worker.
      const worker = await navigator.serviceWorker?.ready;
      await worker?.showNotification(alert.title, { ...options, data: { session: alert.session } });
    }
  }
  if (preferences.getState().sound) beep();
}

async function anyTabVisible(): Promise<boolean> {
  if (document.visibilityState === "visible") return true;
  if (!("locks" in navigator)) return false;
  const { held = [] } = await navigator.locks.query();
  return held.some(({ name }) => name === watched);
}

/** A lock, not a message: a tab that crashes releases it. */
function holdWhileVisible(): void {
  let release: (() => void) | null = null;
  const update = (): void => {
    if (document.visibilityState === "hidden") {
      release?.();
      release = null;
      return;
    }
    if (release !== null) return;
    const hold = Promise.withResolvers<void>();
    release = hold.resolve;
    void navigator.locks.request(watched, { mode: "shared" }, () => hold.promise);
  };
  document.addEventListener("visibilitychange", update);
  update();
}

export function beep(): void {
  const audio = new AudioContext();
  const tone = audio.createOscillator();
  const volume = audio.createGain();
  tone.frequency.value = 660;
  volume.gain.setValueAtTime(0.08, audio.currentTime);
  volume.gain.exponentialRampToValueAtTime(0.0001, audio.currentTime + 0.35);
  tone.connect(volume).connect(audio.destination);
  tone.start();
  tone.stop(audio.currentTime + 0.4);
  tone.addEventListener("ended", () => void audio.close());
}

/** Keeps the count of sessions that need the user in the title and on the icon. */
export function startCounting(): void {
  let shown = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const count = (): void => {
    timer = undefined;
    const waiting = needsYouCount(live.getState());
    if (waiting === shown) return;
    shown = waiting;
    const bare = document.title.replace(/^\(\d+\) /, "");
    document.title = waiting === 0 ? bare : `(${waiting}) ${bare}`;
    const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
    if (icon !== null) icon.href = waiting === 0 ? "/icon.svg" : badgedIcon(waiting);
    // For a page installed as an app.
    if ("setAppBadge" in navigator) void navigator.setAppBadge(waiting).catch(() => undefined);
  };
  live.subscribe((state, before) => {
    if (state.sessions !== before.sessions) timer ??= setTimeout(count, countEveryMs);
  });
}

/** Sets the page's name in the title; keeps the count in front of it. */
export function setPageTitle(name: string | null): void {
  const count = /^\(\d+\) /.exec(document.title)?.[0] ?? "";
  document.title = `${count}${name === null ? "Holdfast" : `${name} · Holdfast`}`;
}
