/** Fetches the code of the views that are likely next, beside what is going on: opening one then costs no round trip. */
import { askEarly } from "../state/early-transcript.ts";
import { live } from "../state/live.ts";
import { hasState } from "../state/session-cache.ts";

/** Long after the first screen is there. */
const idleDelayMs = 3_000;

export function warmViews(): void {
  const id = shownSession();
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

/** The first session that is opened from the board: its view's code and its words are asked for at once, not in turn. */
export function warmSession(): void {
  const id = shownSession();
  if (id === undefined || live.getState().sessions.get(id)?.kind !== "chat") return;
  void import("../chat/chat-view.tsx");
  askEarly(id);
}

/** Whose own view, chat or terminal, the address names. */
function shownSession(): string | undefined {
  return /^\/s\/([^/]+)\/?$/.exec(location.pathname)?.[1];
}
