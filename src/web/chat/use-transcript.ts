import { useEffect, useState, useSyncExternalStore } from "react";
import { live, onEvents } from "../shared/data/live.ts";
import { TranscriptFeed, type FeedState, eventsAtOnce, type FeedSource } from "./transcript-feed.ts";
import type { TranscriptItem } from "../../contract/transcript.ts";
import type { TranscriptPage } from "../../contract/transcript.ts";
import type { EventJson } from "../../contract/wire.ts";
import { call } from "../shared/data/api.ts";
import { newestPage } from "../shared/data/early-transcript.ts";
import { beforePaint } from "../shared/data/frames.ts";
import { readState, writeState } from "../shared/data/session-cache.ts";

const olderItems = 300;
/** What is kept for an instant reload: a few screens, and no more than a browser's few megabytes allow for fifty sessions. */
const cachedItems = 60;
const cachedCharacters = 80_000;

function sourceOf(id: string): FeedSource {
  const params = { id };
  return {
    newest: () => newestPage(id),
    older: (before) => call("transcript", { params, query: { tail: olderItems, before } }),
    events: (since): Promise<EventJson[]> => call("events", { params, query: { since, limit: eventsAtOnce } }),
    nextFrame: (flush) => {
      // A hidden tab gets no frames; what it is told must still arrive for its title and its announcements.
      if (document.visibilityState === "hidden") setTimeout(flush, 200);
      else beforePaint(flush);
    },
  };
}

/** What this browser kept; null also for what an older page wrote in another shape. */
function cachedPage(id: string): TranscriptPage | null {
  const page = readState(id) as Partial<TranscriptPage> | null;
  const isWhole =
    typeof page?.seq === "number" &&
    Array.isArray(page.refs?.tools) &&
    Array.isArray(page.queue) &&
    Array.isArray(page.items) &&
    Array.isArray(page.pinned);
  return isWhole ? (page as TranscriptPage) : null;
}

function cachePage(id: string, feed: TranscriptFeed): void {
  if (feed.state().phase !== "ready") return;
  let count = cachedItems;
  const sizes = feed.state().items.slice(-cachedItems).map(sizeOf);
  while (count > 4 && sizes.slice(-count).reduce((sum, size) => sum + size, 0) > cachedCharacters) count -= 4;
  writeState(id, feed.page(count));
}

/** Roughly; counting exactly would cost as much as writing it. */
function sizeOf(item: TranscriptItem): number {
  if (item.item === "tool") return 500 + JSON.stringify([item.content, item.rawInput, item.rawOutput]).length;
  return "text" in item ? 200 + item.text.length : 300;
}

/** Written at most this often while an agent talks: it is only for the next reload. */
const rememberEveryMs = 3_000;

/** The transcript of one session for as long as the view is open. The view must have the session's id as its key. */
export function useTranscript(id: string): { feed: TranscriptFeed; state: FeedState } {
  const [feed] = useState(() => new TranscriptFeed(sourceOf(id), cachedPage(id)));
  useEffect(() => connect(id, feed), [id, feed]);
  return { feed, state: useSyncExternalStore(feed.subscribe, feed.state) };
}

function connect(id: string, feed: TranscriptFeed): () => void {
  const look = (): void => {
    const session = live.getState().sessions.get(id);
    if (session !== undefined) feed.knows(session.seq);
  };
  const endEvents = onEvents(id, (events) => feed.take(events));
  // The store is set before its events are told: looked at behind both, there is no gap between them.
  const endLive = live.subscribe((state, before) => {
    const moved = state.sessions.get(id)?.seq !== before.sessions.get(id)?.seq;
    if (moved || (state.line.is === "open" && before.line.is !== "open")) queueMicrotask(look);
  });
  look();

  let timer: ReturnType<typeof setTimeout> | undefined;
  const remember = (): void => {
    clearTimeout(timer);
    timer = undefined;
    // One that was deleted while it was open leaves nothing behind.
    if (live.getState().sessions.has(id)) cachePage(id, feed);
  };
  const endFeed = feed.subscribe(() => {
    timer ??= setTimeout(remember, rememberEveryMs);
  });
  addEventListener("pagehide", remember);
  return () => {
    endEvents();
    endLive();
    endFeed();
    removeEventListener("pagehide", remember);
    remember();
  };
}
