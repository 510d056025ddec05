/**
 * Slows guessing of the passphrase down, for everybody at once: behind a proxy all addresses look the same. It is kept
 * in the store, so a restart forgives nothing. Login links from the CLI and tokens already given keep working.
 */
import { Refusal } from "./refusal.ts";

const key = "access.lockout";
const freeFailures = 5;
const firstLockMs = 60_000;
const longestLockMs = 3_600_000;

export interface Settings {
  get(key: string): string | null;
  put(key: string, value: string | null): Promise<void>;
}

interface State {
  failures: number;
  lockedUntil: number;
}

export interface Lockout {
  /** Throws while locked. Counts the attempt as failed before it is tried: dying in mid-attempt forgives nothing. */
  begin(): Promise<{ left: number }>;
  succeeded(): Promise<void>;
}

export function createLockout(settings: Settings, now: () => number): Lockout {
  return {
    begin: async () => {
      const state = read(settings);
      // A clock that was set back must not lock anybody out for longer than the longest lock.
      const waitMs = Math.min(state.lockedUntil - now(), longestLockMs);
      if (waitMs > 0) throw lockedOut(waitMs);
      const failures = state.failures + 1;
      const over = failures - freeFailures;
      const lockedUntil = over < 0 ? 0 : now() + Math.min(firstLockMs * 2 ** over, longestLockMs);
      await settings.put(key, JSON.stringify({ failures, lockedUntil } satisfies State));
      return { left: Math.max(0, -over) };
    },
    succeeded: () => settings.put(key, null),
  };
}

function lockedOut(waitMs: number): Refusal {
  const seconds = Math.ceil(waitMs / 1000);
  const minutes = Math.ceil(seconds / 60);
  const time = seconds <= 90 ? `${seconds} seconds` : `${minutes} minutes`;
  return new Refusal("locked-out", `Too many wrong passphrases. Try again in ${time}.`, {
    hint: "On the daemon's machine, `holdfast dashboard` gives a login link at once.",
    headers: { "Retry-After": String(seconds) },
  });
}

function read(settings: Settings): State {
  const text = settings.get(key);
  if (text === null) return { failures: 0, lockedUntil: 0 };
  const value = JSON.parse(text) as Partial<State>;
  return { failures: value.failures ?? 0, lockedUntil: value.lockedUntil ?? 0 };
}
