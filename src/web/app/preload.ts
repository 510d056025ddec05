/** Fetches the code of the views that are likely next, beside what is going on: opening one then costs no round trip. */
import { askEarly } from "../shared/data/early-transcript.ts";
import { live } from "../shared/data/live.ts";
import { hasState } from "../shared/data/session-cache.ts";

/** Long after the first screen is there. */
const idleDelayMs = 3_000;

export function warmViews(): void {
  const id = shownSession();
  if (id !== undefined) {
    ahead(import("./session-page.tsx"));
    // Shown here before as a chat: the code is fetched while the daemon is asked for the sessions.
    if (hasState(id)) ahead(import("../chat/chat-view.tsx"));
    return;
  }
  setTimeout(() => {
    // Without a daemon there is nobody to fetch it from.
    if (live.getState().line.is !== "open") return;
    ahead(import("./session-page.tsx"));
    ahead(import("../chat/chat-view.tsx"));
  }, idleDelayMs);
}

/** The first session that is opened from the board: its view's code and its words are asked for at once, not in turn. */
export function warmSession(): void {
  const id = shownSession();
  if (id === undefined || live.getState().sessions.get(id)?.kind !== "chat") return;
  ahead(import("../chat/chat-view.tsx"));
  askEarly(id);
}

/** The view itself asks for its code again, and says so where it cannot be had. */
function ahead(fetched: Promise<unknown>): void {
  fetched.catch(() => undefined);
}

/** Whose own view, chat or terminal, the address names. */
function shownSession(): string | undefined {
  return /^\/s\/([^/]+)\/?$/.exec(location.pathname)?.[1];
}
