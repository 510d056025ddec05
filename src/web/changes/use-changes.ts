/**
 * The changes and their patch. They are asked for when the view opens, when the agent did something that may have changed
 * files, when the page is looked at again, and on demand; an idle session is never asked.
 */
import { useEffect, useRef, useState } from "react";
import type { ChangesJson, PatchJson } from "../../contract/wire.ts";
import { call, sentenceOf } from "../shared/data/api.ts";
import { onEvents } from "../shared/data/live.ts";

/** An agent at work tells many things a second; git is asked no more often than this. */
const quietMs = 3_000;
const telling = new Set([
  "tool.updated",
  "turn.ended",
  "activity.changed",
  "workspace.ready",
  "workspace.restored",
  "run.ended",
]);

export interface Loaded {
  changes: ChangesJson;
  patch: PatchJson;
}

export interface Changes {
  loaded: Loaded | null;
  fault: string | null;
  busy: boolean;
  refresh: () => void;
}

export function useChanges(session: string): Changes {
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const [busy, setBusy] = useState(true);
  const ask = useRef<() => void>(() => undefined);
  useEffect(() => {
    const abort = new AbortController();
    const options = { params: { id: session }, signal: abort.signal };
    let timer: ReturnType<typeof setTimeout> | undefined;
    let running = false;
    let again = false;
    const load = async (): Promise<void> => {
      clearTimeout(timer);
      timer = undefined;
      if (running) {
        again = true;
        return;
      }
      running = true;
      setBusy(true);
      try {
        const [changes, patch] = await Promise.all([call("changes", options), call("patch", options)]);
        // The same again must not disturb what is being read.
        setLoaded((now) => (JSON.stringify(now) === JSON.stringify({ changes, patch }) ? now : { changes, patch }));
        setFault(null);
      } catch (error) {
        if (!abort.signal.aborted) setFault(sentenceOf(error));
      }
      running = false;
      setBusy(false);
      if (again && !abort.signal.aborted) {
        again = false;
        soon();
      }
    };
    const soon = (): void => {
      timer ??= setTimeout(() => void load(), quietMs);
    };
    const onVisible = (): void => {
      if (document.visibilityState === "visible") void load();
    };
    ask.current = () => void load();
    void load();
    const stop = onEvents(session, (events) => {
      if (events.some(({ type }) => telling.has(type))) soon();
    });
    document.addEventListener("visibilitychange", onVisible);
    return () => {
      abort.abort();
      clearTimeout(timer);
      stop();
      document.removeEventListener("visibilitychange", onVisible);
    };
  }, [session]);
  return { loaded, fault, busy, refresh: () => ask.current() };
}
