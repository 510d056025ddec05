/** A short relative time ("5m"); all of them update together every half minute. */
import { useSyncExternalStore } from "react";
import { formatAge } from "../../../model/duration.ts";

const everyMs = 30_000;
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === undefined) now = Date.now();
  timer ??= setInterval(() => {
    now = Date.now();
    for (const notify of listeners) notify();
  }, everyMs);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

export function Age({ of, className }: { of: string | null; className?: string }) {
  const shown = useSyncExternalStore(subscribe, () => now);
  if (of === null) return null;
  const at = new Date(of);
  return (
    <time dateTime={of} title={at.toLocaleString()} className={className}>
      {shown - at.getTime() < 60_000 ? "now" : formatAge(shown - at.getTime())}
    </time>
  );
}
