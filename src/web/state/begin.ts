/** Logs in by the link's code if there is one, then follows the daemon's log for as long as the page is open. */
import { follow } from "../../client/follow.ts";
import { HoldfastError } from "../../protocol/error.ts";
import type { Frame } from "../../protocol/stream.ts";
import type { SessionJson } from "../../protocol/wire.ts";
import { forgetSession, sweepSessions } from "./session-cache.ts";
import { call, logOut, sentenceOf } from "./api.ts";
import { beforeDrawing, drawNow } from "./frames.ts";
import { live, tellChanges, tellEvents, type SessionChange } from "./live.ts";
import { keepToken, takeLoginCode, token } from "./login.ts";
import { preferences } from "./preferences.ts";

type EventsFrame = Extract<Frame, { frame: "events" }>;

export async function begin(): Promise<void> {
  const code = takeLoginCode();
  if (code !== null) {
    const failure = await logIn({ code });
    // A used link beside a token that still holds: the page was opened from the history, say.
    if (failure !== null && token() === null) return;
  }
  if (token() === null) live.setState({ login: { is: "out", why: null } });
  else start();
}

/** Null when it worked, else the sentence to show. */
export async function logIn(credentials: { code: string } | { passphrase: string }): Promise<string | null> {
  try {
    keepToken((await call("login", { body: credentials })).token);
    start();
    return null;
  } catch (error) {
    const why = sentenceOf(error);
    if (token() === null) live.setState({ login: { is: "out", why } });
    return why;
  }
}

/** Gives this browser's token back. */
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
  logOut("This browser is logged out.");
}

let following: ReturnType<typeof follow> | null = null;

function start(): void {
  live.setState({ login: { is: "in" } });
  if (following !== null) return following.wake();
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  following = follow({
    url: `${scheme}://${location.host}`,
    socket: WebSocket,
    token,
    onFrame: take,
    onState: (state) => {
      if (state.state === "open") live.setState({ line: { is: "open" } });
      else if (state.state === "connecting") live.setState({ line: { is: "connecting", attempt: state.attempt } });
      else if (state.state === "waiting") {
        live.setState({ line: { is: "waiting", attempt: state.attempt, until: Date.now() + state.delayMs } });
        void checkToken();
      } else live.setState({ line: { is: "closed" } });
    },
  });
}

addEventListener("online", wake);
// A fresh link that is opened in this very tab changes only what stands behind the #: the page is not loaded anew.
addEventListener("hashchange", () => {
  if (location.hash.includes("login=")) void begin();
});
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") wake();
});
// Without a token there is nothing to follow, and nobody to ask again and again.
live.subscribe(({ login }) => {
  if (login.is !== "out" || following === null) return;
  const old = following;
  following = null;
  old.close();
});

/** Tries the line now instead of waiting on. */
export function wake(): void {
  following?.wake();
}

/** A socket that was refused does not say why: a token that is no longer known must not be retried for ever. */
async function checkToken(): Promise<void> {
  if (live.getState().login.is !== "in") return;
  try {
    await call("info");
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
  }
}

function take(frame: Frame): void {
  if (frame.frame === "hello") {
    live.setState({ daemon: { version: frame.version, build: frame.build } });
    return;
  }
  if (frame.frame === "snapshot") {
    drawNow();
    const there = frame.sessions.filter((session) => !isDeleted(session));
    const sessions = new Map(there.map((session) => [session.id, session]));
    live.setState(({ snapshots }) => ({ loaded: true, sessions, snapshots: snapshots + 1 }));
    sweepSessions(new Set(sessions.keys()));
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
  tellEvents(frames.flatMap((frame) => frame.events));
  tellChanges(changes);
}

function isDeleted({ intent }: SessionJson): boolean {
  return intent.want === "deleted";
}
