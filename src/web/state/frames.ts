/**
 * What the daemon tells is taken in once for several of its messages, when the browser is about to draw: an agent may
 * say a hundred words a second, and each of them drawn alone would cost as much as all of them.
 */

/** Thirty times a second: quicker than anyone reads, and every other frame of most screens is left to the person. */
const everyMs = 30;

let acts: (() => void)[] = [];
let asked: number | undefined;
let running = false;
let lastAt = -Infinity;

/** Calls back before something is drawn; what is asked for meanwhile is still done in that frame. Not in a hidden tab. */
export function beforeDrawing(act: () => void): void {
  acts.push(act);
  if (!running) asked ??= requestAnimationFrame(look);
}

/** Does now what waits. */
export function drawNow(): void {
  if (running || acts.length === 0) return;
  if (asked !== undefined) cancelAnimationFrame(asked);
  asked = undefined;
  running = true;
  try {
    // Those that are added on the way come in the same round.
    for (const act of acts) act();
  } finally {
    acts = [];
    running = false;
  }
}

function look(now: number): void {
  asked = undefined;
  if (now - lastAt < everyMs) {
    asked = requestAnimationFrame(look);
    return;
  }
  lastAt = now;
  drawNow();
}

/** A hidden tab gets no frames, and what waits for one may be what calls the person back. */
if (typeof document !== "undefined") {
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") drawNow();
  });
}
