import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { dropSession, readState, writeState, dropStaleSessions } from "./session-cache.ts";

const day = 24 * 3_600_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.stubGlobal("localStorage", storage(2_000));
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("[WEB-18] a session's cached state expires after seven days", () => {
  expect(writeState("ma-1", { items: [1, 2] })).toBe(true);
  expect(readState("ma-1")).toEqual({ items: [1, 2] });
  vi.setSystemTime(Date.now() + 7 * day - 1);
  expect(readState("ma-1")).toEqual({ items: [1, 2] });
  vi.setSystemTime(Date.now() + 1);
  expect(readState("ma-1")).toBeNull();
  expect(localStorage.length).toBe(0);
});

test("[WEB-19] a state that does not fit is not stored, and the old one is removed", () => {
  expect(writeState("ma-1", "small")).toBe(true);
  expect(writeState("ma-1", "x".repeat(3_000))).toBe(false);
  expect(readState("ma-1")).toBeNull();
});

test("[WEB-20] a deleted session leaves nothing, whether deleted here or elsewhere", () => {
  writeState("ma-1", 1);
  localStorage.setItem("holdfast:draft:ma-1", "half a thought");
  localStorage.setItem("holdfast:review:ma-1", "[]");
  dropSession("ma-1");
  expect(localStorage.length).toBe(0);

  writeState("ma-1", 1);
  writeState("ma-2", 2);
  localStorage.setItem("holdfast:draft:ma-1", "half a thought");
  localStorage.setItem("holdfast:draft:ma-3", "without a cache");
  localStorage.setItem("holdfast:review:ma-4", "comments alone");
  localStorage.setItem("holdfast:token", "kept");
  dropStaleSessions(new Set(["ma-2"]));
  expect(Object.keys(localStorage).toSorted()).toEqual(["holdfast:acp-state:v1:ma-2", "holdfast:token"]);
});

test("[WEB-18] a foreign or damaged entry is ignored", () => {
  localStorage.setItem("holdfast:acp-state:v1:ma-1", "{");
  localStorage.setItem("holdfast:acp-state:v1:ma-2", "null");
  dropStaleSessions(new Set(["ma-1", "ma-2"]));
  expect(localStorage.length).toBe(0);
});

/** A browser's storage with so much room. */
function storage(room: number): Storage {
  const methods = {
    getItem(key: string): string | null {
      return Object.hasOwn(kept, key) ? (kept[key] ?? null) : null;
    },
    setItem(key: string, value: string): void {
      const used = Object.entries(kept).reduce((sum, [name, text]) => sum + name.length + text.length, 0);
      if (used + key.length + value.length > room) throw new DOMException("full", "QuotaExceededError");
      kept[key] = value;
    },
    removeItem(key: string): void {
      delete kept[key];
    },
    get length(): number {
      return Object.keys(kept).length;
    },
  };
  const kept = Object.create(methods) as Record<string, string>;
  return kept as unknown as Storage;
}
