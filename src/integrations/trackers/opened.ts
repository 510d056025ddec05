/** What an adapter gives: the port's questions, and what it has cost so far. */
import type { Tracker } from "../../ports/tracker.ts";

export interface OpenedTracker extends Omit<Tracker, "budget"> {
  counts(): { requests: number; notModified: number };
  close(): void;
}

/** Shorter and smaller in tests. */
export interface Bounds {
  deadlineMs?: number;
  maxBytes?: number;
}
