/**
 * The sessions as they were when this browser last left the page. They are shown only where the daemon does not answer:
 * a reload then shows the last state too. Once it answers, they are gone.
 */
import type { SessionJson } from "../../protocol/wire.ts";
import { live } from "./live.ts";

const key = "holdfast:sessions:v1";
const keptMs = 7 * 24 * 3_600_000;
/** The browser's room is for transcripts first. */
const mostCharacters = 500_000;

export function keepSessions(): void {
  const { loaded, login, sessions } = live.getState();
  if (!loaded || login.is !== "in") return;
  const text = JSON.stringify({ savedAt: Date.now(), sessions: [...sessions.values()] });
  try {
    if (text.length <= mostCharacters) localStorage.setItem(key, text);
    else localStorage.removeItem(key);
  } catch {
    // Without room the page waits for the daemon, as it does the first time.
    localStorage.removeItem(key);
  }
}

/** Until the daemon answers: what it says replaces all of it. */
export function showKeptSessions(): void {
  const { loaded, sessions } = live.getState();
  if (loaded || sessions.size > 0) return;
  const kept = recall();
  if (kept.length > 0) live.setState({ sessions: new Map(kept.map((session) => [session.id, session])) });
}

export function forgetKeptSessions(): void {
  localStorage.removeItem(key);
}

function recall(): SessionJson[] {
  try {
    const { savedAt, sessions } = JSON.parse(localStorage.getItem(key) ?? "{}") as {
      savedAt?: unknown;
      sessions?: unknown;
    };
    if (typeof savedAt === "number" && Date.now() - savedAt < keptMs && Array.isArray(sessions)) {
      return sessions as SessionJson[];
    }
  } catch {
    // Damaged: nothing.
  }
  localStorage.removeItem(key);
  return [];
}
