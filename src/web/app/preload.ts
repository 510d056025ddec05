/**
 * Fetches the code of the views that are likely next, so that opening a session costs no round trip for code.
 * `bench/web.ts` measures it: the last screen of a long transcript, on reload and from the board.
 */
import { live } from "../shared/data/live.ts";
import { hasState } from "../shared/data/session-cache.ts";

/** Long after the first screen is drawn. */
const idleDelayMs = 3_000;

export function preloadViews(): void {
  const shown = /^\/s\/([^/]+)\/?$/.exec(location.pathname)?.[1];
  if (shown !== undefined) {
    preload(import("./session-page.tsx"));
    // A cached transcript: this browser showed the session as a chat.
    if (hasState(shown)) preload(import("../chat/chat-view.tsx"));
    return;
  }
  setTimeout(() => {
    // Without a daemon there is nothing to fetch from.
    if (!live.getState().connected) return;
    preload(import("./session-page.tsx"));
    preload(import("../chat/chat-view.tsx"));
  }, idleDelayMs);
}

/** The view itself fetches its code again, and shows the error. */
function preload(code: Promise<unknown>): void {
  code.catch(() => undefined);
}
