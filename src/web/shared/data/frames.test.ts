import { afterEach, expect, test, vi } from "vitest";
import { beforePaint, flushNow } from "./frames.ts";

afterEach(() => void vi.unstubAllGlobals());

test("[WEB-53] callbacks before one paint run together, then a pause follows", () => {
  const frames: (() => void)[] = [];
  vi.stubGlobal("requestAnimationFrame", (act: () => void) => frames.push(act));
  const rests: (() => void)[] = [];
  vi.stubGlobal("setTimeout", (act: () => void) => rests.push(act));
  const done: string[] = [];
  beforePaint(() => {
    done.push("one");
    beforePaint(() => done.push("on the way"));
  });
  beforePaint(() => done.push("two"));
  expect([frames.length, done]).toEqual([1, []]);
  frames[0]!();
  expect(done).toEqual(["one", "two", "on the way"]);
  beforePaint(() => done.push("later"));
  expect([frames.length, rests.length]).toEqual([1, 1]);
  // A snapshot, or a tab that is hidden, does not wait; the frame that comes then has nothing to do.
  flushNow();
  rests[0]!();
  frames[1]!();
  expect(done).toEqual(["one", "two", "on the way", "later"]);
});
