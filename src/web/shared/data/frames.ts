/**
 * What the daemon tells is taken in once for several of its messages, when the browser is about to draw: an agent may
 * say a hundred words a second, and each of them drawn alone would cost as much as all of them.
 */

/** So long nothing more is taken in: quicker than anyone reads, and most frames are left to the person. */
const restMs = 45;

let acts: (() => void)[] = [];
let asked = false;
let running = false;
let lastAt = -Infinity;

/** Calls back before something is drawn; what is asked for meanwhile is still done in that frame. Not in a hidden tab. */
export function beforeDrawing(act: () => void): void {
  acts.push(act);
  if (running || asked) return;
  asked = true;
  const rest = lastAt + restMs - performance.now();
  // Not by asking for frame after frame: one in which nothing is drawn costs as well.
  if (rest > 0) setTimeout(() => requestAnimationFrame(drawNow), rest);
  else requestAnimationFrame(drawNow);
}

/** Does now what waits. */
export function drawNow(): void {
  if (running) return;
  asked = false;
  if (acts.length === 0) return;
  running = true;
  try {
    // Those that are added on the way come in the same round.
    for (const act of acts) act();
  } finally {
    acts = [];
    running = false;
    lastAt = performance.now();
  }
}

/** A hidden tab gets no frames, and what waits for one may be what calls the person back. */
if (typeof document !== "undefined") {
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") drawNow();
  });
}
