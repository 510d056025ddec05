/** Logs in with the link's code if there is one, then follows the daemon's event stream while the page is open. */
import { follow } from "../../../client/follow.ts";
import { HoldfastError } from "../../../contract/errors.ts";
import type { Frame } from "../../../contract/stream.ts";
import type { SessionJson } from "../../../contract/session.ts";
import * as cache from "./session-cache.ts";
import { call, resetChallenge, leave, logOut, prove, sentenceOf, tabs, notifyTabs, type TabMessage } from "./api.ts";
import { deviceKey, hasOtherKey } from "./device-key.ts";
import { beforePaint, flushNow } from "./frames.ts";
import { live, emitChanges, emitDevices, emitEvents, type SessionChange } from "./live.ts";
import type { Credentials } from "./log-in.ts";
import { preferences } from "./preferences.ts";

/** The build this page came from; a daemon of another build may use another protocol. */
declare const __HOLDFAST_BUILD__: string;

export const pageBuild: string = __HOLDFAST_BUILD__;

type EventsFrame = Extract<Frame, { frame: "events" }>;

/** Stored by builds before device logins. */
const oldTokenKey = "holdfast:token";

export async function connect(): Promise<void> {
  const code = loginCode();
  const hadToken = localStorage.getItem(oldTokenKey) !== null;
  localStorage.removeItem(oldTokenKey);
  // Browsers store no key for an insecure page, and a secret would cross the network in the clear.
  if (!isSecureContext) return live.setState({ login: { is: "insecure" } });
  try {
    const isIn = (await deviceKey()) !== null;
    // A used link with a key that is still valid: the page was opened from the history, for example.
    if (code !== null && (await logIn({ code })) !== null && !isIn) return;
    if ((await deviceKey()) !== null) return followDaemon();
    live.setState({ login: { is: "out", why: hadToken ? replacedToken : null } });
  } catch (error) {
    live.setState({ login: { is: "out", why: `This browser cannot store a key for this page: ${sentenceOf(error)}` } });
  }
}

const replacedToken =
  "Logins have changed since this browser logged in. Run `holdfast dashboard` for a new login link.";

/** The one-time code of a login link. Removed from the address bar, so that it is not copied along. */
function loginCode(): string | null {
  const code = new URLSearchParams(location.hash.slice(1)).get("login");
  if (code !== null) history.replaceState(null, "", location.pathname);
  return code;
}

/** Null on success, else the error to show. */
export async function logIn(credentials: Credentials): Promise<string | null> {
  try {
    await (await import("./log-in.ts")).enroll(credentials);
    notifyTabs({ loggedIn: true });
    followDaemon();
    return null;
  } catch (error) {
    const why = sentenceOf(error);
    if ((await deviceKey()) === null) live.setState({ login: { is: "out", why } });
    return why;
  }
}

tabs().addEventListener("message", ({ data }: MessageEvent<TabMessage>) => {
  void onTabMessage(data);
});

async function onTabMessage(message: TabMessage): Promise<void> {
  const gone = "device" in message ? message.device : null;
  const isNew = ("loggedIn" in message || gone !== null) && (await hasOtherKey(gone));
  const { login } = live.getState();
  if (isNew && login.is === "out") await connect();
  else if (!isNew && "loggedOut" in message && (login.is === "in" || (login.is === "out" && message.asked))) {
    leave(message.loggedOut);
  }
}

/** Ends this browser's access. */
export async function logOutThisBrowser(): Promise<void> {
  // A logged-out browser gets no pushes; if unsubscribing fails, the logout still proceeds.
  if (preferences.getState().push !== null) {
    await import("./push.ts").then(({ unsubscribeHere }) => unsubscribeHere()).catch(() => undefined);
  }
  try {
    await call("logout", { body: {} });
  } catch (error) {
    // The daemon may not know this device, or may be unable to revoke it now: its key is deleted here anyway.
    if (!(error instanceof HoldfastError)) throw error;
  }
  await logOut("This browser is logged out.", true);
}

let following: ReturnType<typeof follow> | null = null;

function followDaemon(): void {
  live.setState({ login: { is: "in" } });
  if (following !== null) return following.wake();
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  following = follow({
    url: `${scheme}://${location.host}`,
    socket: WebSocket,
    prove,
    onFrame: applyFrame,
    onState: ({ state }) => {
      if (state === "waiting") resetChallenge();
      live.setState({ connected: state === "open" });
      if (state !== "waiting") return;
      cache.showCachedSessions();
      void checkLogin();
    },
  });
}

addEventListener("online", wake);
addEventListener("pagehide", cache.cacheSessions);
// A new login link opened in this tab changes only the part after the #: the page is not reloaded.
addEventListener("hashchange", () => {
  if (location.hash.includes("login=")) void connect();
});
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") wake();
});
// Without a login there is nothing to follow.
live.subscribe(({ login }) => {
  if (login.is !== "out" || following === null) return;
  const old = following;
  following = null;
  cache.dropCachedSessions();
  old.close();
});

/** Reconnects now instead of waiting. */
export function wake(): void {
  following?.wake();
}

/** A refused WebSocket does not report why: a revoked device must not retry forever. */
async function checkLogin(): Promise<void> {
  if (live.getState().login.is !== "in") return;
  try {
    await call("info");
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
  }
}

function applyFrame(frame: Frame): void {
  if (frame.frame === "hello") {
    live.setState({ daemon: { version: frame.version, build: frame.build }, device: frame.device ?? null });
    return;
  }
  if (frame.frame === "devices") return emitDevices(frame.added);
  if (frame.frame === "snapshot") {
    flushNow();
    const existing = frame.sessions.filter((session) => !isDeleted(session));
    const sessions = new Map(existing.map((session) => [session.id, session]));
    live.setState(({ snapshots }) => ({ loaded: true, sessions, snapshots: snapshots + 1 }));
    cache.dropStaleSessions(new Set(sessions.keys()));
    cache.dropCachedSessions();
    return;
  }
  pending.push(frame);
  // A hidden tab is not painted, but it may have to notify the user.
  if (document.visibilityState === "hidden") applyPending();
  else if (pending.length === 1) beforePaint(applyPending);
}

let pending: EventsFrame[] = [];

function applyPending(): void {
  const frames = pending;
  pending = [];
  if (frames.length === 0) return;
  const { sessions: known, deleted } = live.getState();
  const sessions = new Map(known);
  const gone = new Set<string>();
  const changes: SessionChange[] = [];
  for (const after of frames.flatMap((frame) => frame.sessions)) {
    // The daemon still reports a deleted session while it cleans up: that does not restore it.
    if (isDeleted(after)) {
      gone.add(after.id);
      sessions.delete(after.id);
      continue;
    }
    changes.push({ before: sessions.get(after.id), after });
    sessions.set(after.id, after);
  }
  live.setState({ sessions, ...(gone.size === 0 ? {} : { deleted: new Set([...deleted, ...gone]) }) });
  for (const id of gone) cache.dropSession(id);
  if (gone.size > 0) cache.dropCachedSessions();
  emitEvents(frames.flatMap((frame) => frame.events));
  emitChanges(changes);
}

function isDeleted({ intent }: SessionJson): boolean {
  return intent.want === "deleted";
}
