/**
 * Calls the person back: the count in the title and on the icon, and a notification of the browser's where that was
 * asked for. With several tabs open one of them speaks, and none while any of them is looked at.
 */
import type { Status } from "../../model/session.ts";
import { callsFor, notesFor, type Call } from "./attention.ts";
import { badgedIcon } from "./badge.ts";
import { live, onChanges, onEvents } from "./live.ts";
import { columnOf } from "../../model/board.ts";
import { preferences } from "./preferences.ts";

const speaker = "holdfast:speaker";
const watched = "holdfast:watched";
/** The count may lag; it is not worth a look at all sessions for each word an agent says. */
const countEveryMs = 250;

export type NotifyState = "on" | "off" | "denied" | "unsupported";

export function notifyState(): NotifyState {
  // Browsers offer it to pages from this machine or by https only.
  if (!("Notification" in globalThis) || !isSecureContext) return "unsupported";
  if (Notification.permission === "denied") return "denied";
  return preferences.getState().notify && Notification.permission === "granted" ? "on" : "off";
}

/** Asks the browser, which asks the person. */
export async function turnOnNotifications(): Promise<NotifyState> {
  if (notifyState() === "unsupported") return "unsupported";
  const permission = await Notification.requestPermission();
  preferences.setState({ notify: permission === "granted" });
  return notifyState();
}

/** Begins to watch. `open` shows a session. */
export function beginNotifying(open: (session: string) => void): void {
  let speaks = !("locks" in navigator);
  if (!speaks) {
    // Held until this tab closes; then the next one in the row speaks.
    void navigator.locks.request(speaker, () => {
      speaks = true;
      return new Promise(() => undefined);
    });
    holdWhileVisible();
  }
  const tell = (find: () => Call[]): void => {
    // The permission is asked of the browser's own process, which takes a millisecond: not for those who want none.
    if (!speaks || !preferences.getState().notify || notifyState() !== "on") return;
    const calls = find();
    if (calls.length > 0) void speak(calls, open);
  };
  onChanges((changes) => tell(() => callsFor(changes)));
  onEvents("*", (events) => tell(() => notesFor(events, statusNow)));
  navigator.serviceWorker?.addEventListener("message", (event: MessageEvent<{ open?: unknown }>) => {
    if (typeof event.data?.open === "string") open(event.data.open);
  });
}

export function statusNow(session: string): Status | undefined {
  return live.getState().sessions.get(session)?.status;
}

async function speak(calls: Call[], open: (session: string) => void): Promise<void> {
  if (await anyTabVisible()) return;
  // A push tells of the same thing at the same time: only the service worker can put one in the other's place.
  const worker = preferences.getState().push === null ? null : (await navigator.serviceWorker?.ready)?.active;
  for (const call of calls) {
    if (worker) {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has one origin
      worker.postMessage({ notify: { title: call.title, text: call.text, session: call.session } });
      continue;
    }
    const options = { body: call.text, tag: call.tag, icon: "/icon-192.png" };
    try {
      const shown = new Notification(call.title, options);
      shown.addEventListener("click", () => {
        focus();
        shown.close();
        open(call.session);
      });
    } catch {
      // Phones allow it to the service worker only.
      const worker = await navigator.serviceWorker?.ready;
      await worker?.showNotification(call.title, { ...options, data: { session: call.session } });
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

/** A lock and not a message: a tab that crashes lets go of it. */
function holdWhileVisible(): void {
  let letGo: (() => void) | null = null;
  const look = (): void => {
    if (document.visibilityState === "hidden") {
      letGo?.();
      letGo = null;
      return;
    }
    if (letGo !== null) return;
    const hold = Promise.withResolvers<void>();
    letGo = hold.resolve;
    void navigator.locks.request(watched, { mode: "shared" }, () => hold.promise);
  };
  document.addEventListener("visibilitychange", look);
  look();
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

/** Keeps the count of sessions that need the person in the title and on the icon. */
export function beginCounting(): void {
  let shown = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const count = (): void => {
    timer = undefined;
    const now = live.getState();
    const waiting = [...now.sessions.values()].filter((session) => columnOf(session) === "you").length;
    if (waiting === shown) return;
    shown = waiting;
    document.title = titleWith(document.title, waiting);
    const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
    if (icon !== null) icon.href = waiting === 0 ? "/icon.svg" : badgedIcon(waiting);
    // Where the page is installed as an app.
    if ("setAppBadge" in navigator) void navigator.setAppBadge(waiting).catch(() => undefined);
  };
  live.subscribe((state, before) => {
    if (state.sessions !== before.sessions) timer ??= setTimeout(count, countEveryMs);
  });
}

/** Names the page; the count in front of it stays. */
export function nameThePage(name: string | null): void {
  const count = /^\(\d+\) /.exec(document.title)?.[0] ?? "";
  document.title = `${count}${name === null ? "Holdfast" : `${name} · Holdfast`}`;
}

function titleWith(title: string, count: number): string {
  const bare = title.replace(/^\(\d+\) /, "");
  return count === 0 ? bare : `(${count}) ${bare}`;
}
