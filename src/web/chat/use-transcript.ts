import { useEffect, useState, useSyncExternalStore } from "react";
import { live, onEvents } from "../shared/data/live.ts";
import { TranscriptFeed, type FeedState } from "./transcript-feed.ts";
import { recallPage, rememberPage, sourceOf } from "./transcript-source.ts";

/** Written at most this often while an agent talks: it is only for the next reload. */
const rememberEveryMs = 3_000;

/** The transcript of one session for as long as the view is open. The view must have the session's id as its key. */
export function useTranscript(id: string): { feed: TranscriptFeed; state: FeedState } {
  const [feed] = useState(() => new TranscriptFeed(sourceOf(id), recallPage(id)));
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
    if (live.getState().sessions.has(id)) rememberPage(id, feed);
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
