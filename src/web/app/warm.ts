/** Fetches the code of the views that are likely next, beside what is going on: opening one then costs no round trip. */
import { hasState } from "../state/session-cache.ts";

/** Long after the first screen is there. */
const idleDelayMs = 3_000;

export function warmViews(): void {
  const id = /^\/s\/([^/]+)\/?$/.exec(location.pathname)?.[1];
  if (id !== undefined) {
    void import("../session/session-page.tsx");
    // Shown here before as a chat: the code is fetched while the daemon is asked for the sessions.
    if (hasState(id)) void import("../chat/chat-view.tsx");
    return;
  }
  setTimeout(() => {
    void import("../session/session-page.tsx");
    void import("../chat/chat-view.tsx");
  }, idleDelayMs);
}
