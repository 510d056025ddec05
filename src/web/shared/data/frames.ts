/**
 * Batches the daemon's messages until the browser is about to paint: an agent may write a hundred words per second, and
 * painting one costs as much as painting all of them. `bench/web.ts` measures the main thread time per update.
 */

/** Minimum time between two batches: faster than anyone reads, and most frames stay free for user input. */
const intervalMs = 45;

let acts: (() => void)[] = [];
let scheduled = false;
let running = false;
let lastAt = -Infinity;

/** Calls back before the next paint; callbacks added meanwhile run in the same batch. Never called in a hidden tab. */
export function beforePaint(act: () => void): void {
  acts.push(act);
  if (running || scheduled) return;
  scheduled = true;
  const wait = lastAt + intervalMs - performance.now();
  // A timer instead of frame after frame: a frame without a paint costs time too.
  if (wait > 0) setTimeout(() => requestAnimationFrame(flushNow), wait);
  else requestAnimationFrame(flushNow);
}

/** Runs the pending callbacks now. */
export function flushNow(): void {
  if (running) return;
  scheduled = false;
  if (acts.length === 0) return;
  running = true;
  try {
    // Includes callbacks that are added while it runs.
    for (const act of acts) act();
  } finally {
    acts = [];
    running = false;
    lastAt = performance.now();
  }
}

/** A hidden tab gets no frames, but the pending callbacks may notify the user. */
if (typeof document !== "undefined") {
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") flushNow();
  });
}
