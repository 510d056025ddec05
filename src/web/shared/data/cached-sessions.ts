/**
 * The sessions as they were when this browser last left the page. They are shown only where the daemon does not answer:
 * a reload then shows the last state too. Once it answers, they are gone.
 */
import type { SessionJson } from "../../../contract/wire.ts";
import { keepEntry, recallEntry } from "./cached-entry.ts";
import { live } from "./live.ts";

const key = "holdfast:sessions:v1";
/** The browser's room is for transcripts first. */
const mostCharacters = 500_000;

export function keepSessions(): void {
  const { loaded, login, sessions } = live.getState();
  if (!loaded || login.is !== "in") return;
  // Without room the page waits for the daemon, as it does the first time.
  keepEntry(key, [...sessions.values()], mostCharacters);
}

/** Until the daemon answers: what it says replaces all of it. */
export function showKeptSessions(): void {
  const { loaded, sessions } = live.getState();
  if (loaded || sessions.size > 0) return;
  const kept = recallEntry(key);
  if (Array.isArray(kept) && kept.length > 0)
    live.setState({ sessions: new Map((kept as SessionJson[]).map((session) => [session.id, session])) });
}

export function forgetKeptSessions(): void {
  localStorage.removeItem(key);
}
