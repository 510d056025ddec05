/** A session's transcript: loaded from this browser's cache and the daemon, then kept up to date. */
import { useEffect, useState, useSyncExternalStore } from "react";
import { live, onEvents } from "../shared/data/live.ts";
import { TranscriptFeed, type FeedState, eventsAtOnce, type FeedSource } from "./transcript-feed.ts";
import type { TranscriptItem, TranscriptPage } from "../../contract/transcript.ts";
import type { EventJson } from "../../contract/stream.ts";
import { call } from "../shared/data/api.ts";
import { beforePaint } from "../shared/data/frames.ts";
import { readState, writeState } from "../shared/data/session-cache.ts";

/** Several screens of a large display. */
const newestItems = 120;
const olderItems = 300;
/** Cached for an instant reload: a few screens; a browser's few megabytes must do for fifty sessions. */
const cachedItems = 60;
const cachedCharacters = 80_000;

function sourceOf(id: string): FeedSource {
  const params = { id };
  return {
    newest: () => call("transcript", { params, query: { tail: newestItems } }),
    older: (before) => call("transcript", { params, query: { tail: olderItems, before } }),
    events: (since): Promise<EventJson[]> => call("events", { params, query: { since, limit: eventsAtOnce } }),
    nextFrame: (flush) => {
      // A hidden tab gets no frames, but its title and announcements must stay current.
      if (document.visibilityState === "hidden") setTimeout(flush, 200);
      else beforePaint(flush);
    },
  };
}

/** Null if there is none, or if an older page stored it in another format. */
function cachedPage(id: string): TranscriptPage | null {
  const page = readState(id) as Partial<TranscriptPage> | null;
  const isValid =
    typeof page?.seq === "number" &&
    Array.isArray(page.refs?.tools) &&
    Array.isArray(page.queue) &&
    Array.isArray(page.items) &&
    Array.isArray(page.pinned);
  return isValid ? (page as TranscriptPage) : null;
}

function cachePage(id: string, feed: TranscriptFeed): void {
  if (feed.state().phase !== "ready") return;
  let count = cachedItems;
  const sizes = feed.state().items.slice(-cachedItems).map(sizeOf);
  while (count > 4 && sizes.slice(-count).reduce((sum, size) => sum + size, 0) > cachedCharacters) count -= 4;
  writeState(id, feed.page(count));
}

/** An estimate; an exact count would cost as much as writing it. */
function sizeOf(item: TranscriptItem): number {
  if (item.item === "tool") return 500 + JSON.stringify([item.content, item.rawInput, item.rawOutput]).length;
  return "text" in item ? 200 + item.text.length : 300;
}

/** Cached at most this often while an agent writes: it is only for the next reload. */
const cacheEveryMs = 3_000;

/** The calling view must be keyed by the session's id. */
export function useTranscript(id: string): { feed: TranscriptFeed; state: FeedState } {
  const [feed] = useState(() => new TranscriptFeed(sourceOf(id), cachedPage(id)));
  useEffect(() => connect(id, feed), [id, feed]);
  return { feed, state: useSyncExternalStore(feed.subscribe, feed.state) };
}

function connect(id: string, feed: TranscriptFeed): () => void {
  const checkSeq = (): void => {
    const session = live.getState().sessions.get(id);
    if (session !== undefined) feed.catchUpTo(session.seq);
  };
  const endEvents = onEvents(id, (events) => feed.apply(events));
  // The store is updated before its events are emitted: checked after both, there is no gap between them.
  const endLive = live.subscribe((state, before) => {
    const moved = state.sessions.get(id)?.seq !== before.sessions.get(id)?.seq;
    if (moved || (state.connected && !before.connected)) queueMicrotask(checkSeq);
  });
  checkSeq();

  let timer: ReturnType<typeof setTimeout> | undefined;
  const cache = (): void => {
    clearTimeout(timer);
    timer = undefined;
    // A session that was deleted while it was open leaves nothing behind.
    if (live.getState().sessions.has(id)) cachePage(id, feed);
  };
  const endFeed = feed.subscribe(() => {
    timer ??= setTimeout(cache, cacheEveryMs);
  });
  addEventListener("pagehide", cache);
  return () => {
    endEvents();
    endLive();
    endFeed();
    removeEventListener("pagehide", cache);
    cache();
  };
}
