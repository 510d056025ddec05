/** How long ago, such as 5m or 2d. All ages on a page update together every half minute. */
import { useSyncExternalStore } from "react";
import { formatAge } from "../../model/duration.ts";

const everyMs = 30_000;
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === undefined) now = Date.now();
  timer ??= setInterval(() => {
    now = Date.now();
    for (const each of listeners) each();
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
      {ageText(shown - at.getTime())}
    </time>
  );
}

export function ageText(ms: number): string {
  return ms < 60_000 ? "now" : formatAge(ms);
}
