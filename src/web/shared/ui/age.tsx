/** A short relative time ("5m"); all of them update together every half minute. */
import { useSyncExternalStore } from "react";

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
      {formatAge(shown - at.getTime())}
    </time>
  );
}

export function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return "now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}
