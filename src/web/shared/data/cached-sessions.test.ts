import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { SessionJson } from "../../../contract/session.ts";
import { dropCachedSessions, cacheSessions, showCachedSessions } from "./session-cache.ts";
import { live } from "./live.ts";

const day = 24 * 3_600_000;
const first = live.getState();
let kept: Map<string, string>;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  kept = new Map();
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  });
});
afterEach(() => {
  live.setState(first, true);
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("[WEB-13] the sessions of the last visit are shown until the daemon responds, for seven days", () => {
  leave();
  showCachedSessions();
  expect([...live.getState().sessions.keys()]).toEqual(["ma-1"]);
  expect(live.getState().loaded).toBe(false);

  live.setState(first, true);
  vi.setSystemTime(Date.now() + 7 * day);
  showCachedSessions();
  expect(live.getState().sessions.size).toBe(0);
  expect(kept.size).toBe(0);
});

test("[WEB-13] cached sessions never replace the daemon's, and are not cached again", () => {
  leave();
  live.setState({ loaded: true });
  showCachedSessions();
  expect(live.getState().sessions.size).toBe(0);

  dropCachedSessions();
  live.setState({ login: { is: "in" }, loaded: false });
  cacheSessions();
  expect(kept.size).toBe(0);
  kept.set("holdfast:sessions:v1", "{damaged");
  showCachedSessions();
  expect(live.getState().sessions.size).toBe(0);
});

/** A page that knew one session is left, and another one opened. */
function leave(): void {
  const sessions = new Map([["ma-1", { id: "ma-1" } as SessionJson]]);
  live.setState({ login: { is: "in" }, loaded: true, sessions });
  cacheSessions();
  live.setState(first, true);
}
