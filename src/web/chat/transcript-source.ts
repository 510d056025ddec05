/** The daemon as a transcript's source, and the cache of this browser before it. */
import type { TranscriptItem } from "../../model/transcript-items.ts";
import type { TranscriptPage } from "../../model/transcript.ts";
import type { EventJson } from "../../contract/wire.ts";
import { call } from "../shared/data/api.ts";
import { newestPage } from "../shared/data/early-transcript.ts";
import { beforeDrawing } from "../shared/data/frames.ts";
import { recallSession, rememberSession } from "../shared/data/session-cache.ts";
import { eventsAtOnce, type FeedSource, type TranscriptFeed } from "./transcript-feed.ts";

const olderItems = 300;
/** What is kept for an instant reload: a few screens, and no more than a browser's few megabytes allow for fifty sessions. */
const cachedItems = 60;
const cachedCharacters = 80_000;

export function sourceOf(id: string): FeedSource {
  const params = { id };
  return {
    newest: () => newestPage(id),
    older: (before) => call("transcript", { params, query: { tail: olderItems, before } }),
    events: (since): Promise<EventJson[]> => call("events", { params, query: { since, limit: eventsAtOnce } }),
    nextFrame: (flush) => {
      // A hidden tab gets no frames; what it is told must still arrive for its title and its announcements.
      if (document.visibilityState === "hidden") setTimeout(flush, 200);
      else beforeDrawing(flush);
    },
  };
}

/** What this browser kept; null also for what an older page wrote in another shape. */
export function recallPage(id: string): TranscriptPage | null {
  const page = recallSession(id) as Partial<TranscriptPage> | null;
  const isWhole =
    typeof page?.seq === "number" &&
    Array.isArray(page.refs?.tools) &&
    Array.isArray(page.queue) &&
    Array.isArray(page.items) &&
    Array.isArray(page.pinned);
  return isWhole ? (page as TranscriptPage) : null;
}

export function rememberPage(id: string, feed: TranscriptFeed): void {
  if (feed.state().phase !== "ready") return;
  let count = cachedItems;
  const sizes = feed.state().items.slice(-cachedItems).map(sizeOf);
  while (count > 4 && sizes.slice(-count).reduce((sum, size) => sum + size, 0) > cachedCharacters) count -= 4;
  rememberSession(id, feed.page(count));
}

/** Roughly; counting exactly would cost as much as writing it. */
function sizeOf(item: TranscriptItem): number {
  if (item.item === "tool") return 500 + JSON.stringify([item.content, item.rawInput, item.rawOutput]).length;
  return "text" in item ? 200 + item.text.length : 300;
}
