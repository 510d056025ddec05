/** Logs in by the link's code if there is one, then follows the daemon's log for as long as the page is open. */
import { follow } from "../../../client/follow.ts";
import { HoldfastError } from "../../../contract/error.ts";
import type { Frame } from "../../../contract/stream.ts";
import type { SessionJson } from "../../../contract/wire.ts";
import { forgetSession, sweepSessions, forgetKeptSessions, keepSessions, showKeptSessions } from "./session-cache.ts";
import { call, doubtChallenge, leave, logOut, prove, sentenceOf, tabs, tellTabs, type TabMessage } from "./api.ts";
import { deviceKey, hasOtherKey } from "./device-key.ts";
import { beforeDrawing, drawNow } from "./frames.ts";
import { live, tellChanges, tellDevices, tellEvents, type SessionChange } from "./live.ts";
import type { Credentials } from "./log-in.ts";
import { preferences } from "./preferences.ts";

/** The build that this page came from. A daemon of another one may speak another language. */
declare const __HOLDFAST_BUILD__: string;

export const pageBuild: string = __HOLDFAST_BUILD__;

type EventsFrame = Extract<Frame, { frame: "events" }>;

/** Of the build before devices. */
const oldTokenKey = "holdfast:token";

export async function begin(): Promise<void> {
  const code = takeLoginCode();
  const hadToken = localStorage.getItem(oldTokenKey) !== null;
  localStorage.removeItem(oldTokenKey);
  // Without it there is no key, and a secret would cross the network readable.
  if (!isSecureContext) return live.setState({ login: { is: "insecure" } });
  try {
    const isIn = (await deviceKey()) !== null;
    // A used link beside a key that still holds: the page was opened from the history, say.
    if (code !== null && (await logIn({ code })) !== null && !isIn) return;
    if ((await deviceKey()) !== null) return start();
    live.setState({ login: { is: "out", why: hadToken ? replacedToken : null } });
  } catch (error) {
    live.setState({ login: { is: "out", why: `This browser cannot keep a key here: ${sentenceOf(error)}` } });
  }
}

const replacedToken =
  "This browser was logged in by an earlier version. Logins have changed and it has to log in once more. Run `holdfast dashboard` for a login link.";

/** The one-time code of a printed link. It is taken out of the address, so that nobody copies it from there. */
function takeLoginCode(): string | null {
  const code = new URLSearchParams(location.hash.slice(1)).get("login");
  if (code !== null) history.replaceState(null, "", location.pathname);
  return code;
}

/** Null when it worked, else the sentence to show. */
export async function logIn(credentials: Credentials): Promise<string | null> {
  try {
    await (await import("./log-in.ts")).enroll(credentials);
    tellTabs({ loggedIn: true });
    start();
    return null;
  } catch (error) {
    const why = sentenceOf(error);
    if ((await deviceKey()) === null) live.setState({ login: { is: "out", why } });
    return why;
  }
}

tabs().addEventListener("message", ({ data }: MessageEvent<TabMessage>) => {
  void hear(data);
});

async function hear(message: TabMessage): Promise<void> {
  const gone = "device" in message ? message.device : null;
  const isNew = ("loggedIn" in message || gone !== null) && (await hasOtherKey(gone));
  const { login } = live.getState();
  if (isNew && login.is === "out") await begin();
  else if (!isNew && "loggedOut" in message && (login.is === "in" || (login.is === "out" && message.asked))) {
    leave(message.loggedOut);
  }
}

/** Ends this browser's access. */
export async function logOutHere(): Promise<void> {
  // Who is logged out is not called any more; where that fails the log-out still counts.
  if (preferences.getState().push !== null) {
    await import("./push.ts").then(({ unsubscribeHere }) => unsubscribeHere()).catch(() => undefined);
  }
  try {
    await call("logout", { body: {} });
  } catch (error) {
    // One that is known to nobody needs no revoking; one that cannot be revoked now is forgotten here all the same.
    if (!(error instanceof HoldfastError)) throw error;
  }
  await logOut("This browser is logged out.", true);
}

let following: ReturnType<typeof follow> | null = null;

function start(): void {
  live.setState({ login: { is: "in" } });
  if (following !== null) return following.wake();
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  following = follow({
    url: `${scheme}://${location.host}`,
    socket: WebSocket,
    prove,
    onFrame: take,
    onState: (state) => {
      if (state.state === "open") live.setState({ line: { is: "open" } });
      else if (state.state === "connecting") live.setState({ line: { is: "connecting", attempt: state.attempt } });
      else if (state.state === "waiting") {
        doubtChallenge();
        live.setState({ line: { is: "waiting", attempt: state.attempt, until: Date.now() + state.delayMs } });
        showKeptSessions();
        void checkLogin();
      } else live.setState({ line: { is: "closed" } });
    },
  });
}

addEventListener("online", wake);
addEventListener("pagehide", keepSessions);
// A fresh link that is opened in this very tab changes only what stands behind the #: the page is not loaded anew.
addEventListener("hashchange", () => {
  if (location.hash.includes("login=")) void begin();
});
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") wake();
});
// Without a login there is nothing to follow, and nobody to ask again and again.
live.subscribe(({ login }) => {
  if (login.is !== "out" || following === null) return;
  const old = following;
  following = null;
  forgetKeptSessions();
  old.close();
});

/** Tries the line now instead of waiting on. */
export function wake(): void {
  following?.wake();
}

/** A socket that was refused does not say why: a device that is no longer known must not try for ever. */
async function checkLogin(): Promise<void> {
  if (live.getState().login.is !== "in") return;
  try {
    await call("info");
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
  }
}

function take(frame: Frame): void {
  if (frame.frame === "hello") {
    live.setState({ daemon: { version: frame.version, build: frame.build }, device: frame.device ?? null });
    return;
  }
  if (frame.frame === "devices") return tellDevices(frame.added);
  if (frame.frame === "snapshot") {
    drawNow();
    const there = frame.sessions.filter((session) => !isDeleted(session));
    const sessions = new Map(there.map((session) => [session.id, session]));
    live.setState(({ snapshots }) => ({ loaded: true, sessions, snapshots: snapshots + 1 }));
    sweepSessions(new Set(sessions.keys()));
    forgetKeptSessions();
    return;
  }
  news.push(frame);
  // Nothing is drawn in a hidden tab, but the person may be called back by it.
  if (document.visibilityState === "hidden") takeNews();
  else if (news.length === 1) beforeDrawing(takeNews);
}

let news: EventsFrame[] = [];

function takeNews(): void {
  const frames = news;
  news = [];
  if (frames.length === 0) return;
  const { sessions: known, deleted } = live.getState();
  const sessions = new Map(known);
  const gone = new Set<string>();
  const changes: SessionChange[] = [];
  for (const after of frames.flatMap((frame) => frame.sessions)) {
    // A deleted session is told about until its processes and files are cleared away: that does not bring it back.
    if (isDeleted(after)) {
      gone.add(after.id);
      sessions.delete(after.id);
      continue;
    }
    changes.push({ before: sessions.get(after.id), after });
    sessions.set(after.id, after);
  }
  live.setState({ sessions, ...(gone.size === 0 ? {} : { deleted: new Set([...deleted, ...gone]) }) });
  for (const id of gone) forgetSession(id);
  if (gone.size > 0) forgetKeptSessions();
  tellEvents(frames.flatMap((frame) => frame.events));
  tellChanges(changes);
}

function isDeleted({ intent }: SessionJson): boolean {
  return intent.want === "deleted";
}
