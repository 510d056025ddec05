/** A short relative time ("5m"); all of them update together every half minute. */
import { createStore, useStore } from "zustand";
import { formatAge } from "../../../model/duration.ts";

const clock = createStore(() => Date.now());
setInterval(() => clock.setState(Date.now(), true), 30_000);

export function Age({ of, className }: { of: string | null; className?: string }) {
  const shown = useStore(clock);
  if (of === null) return null;
  const at = new Date(of);
  return (
    <time dateTime={of} title={at.toLocaleString()} className={className}>
      {shown - at.getTime() < 60_000 ? "now" : formatAge(shown - at.getTime())}
    </time>
  );
}
