/** What a session needs from the person: the columns of the board. */
import type { SessionJson } from "../../contract/wire.ts";
import type { Status } from "../../model/session.ts";

export const needs = ["you", "working", "review", "idle", "ended"] as const;
export type Need = (typeof needs)[number];

export const needTitles: Record<Need, string> = {
  you: "Needs you",
  working: "Working",
  review: "Ready to review",
  idle: "Idle",
  ended: "Ended",
};

const byStatus: Record<Status, Need> = {
  needs_input: "you",
  stuck: "you",
  failed: "you",
  unknown: "you",
  ci_failed: "you",
  changes_requested: "you",
  starting: "working",
  working: "working",
  pr_open: "review",
  review_pending: "review",
  approved: "review",
  mergeable: "review",
  merged: "review",
  running: "working",
  idle: "idle",
  stopped: "idle",
  snoozed: "idle",
  archived: "ended",
  exited: "ended",
  done: "ended",
  killed: "ended",
};

export function needOf(session: SessionJson): Need {
  return session.needsYou === true ? "you" : byStatus[session.status];
}

export type Tone = "alert" | "busy" | "good" | "calm" | "over";

const tones: Record<Status, Tone> = {
  needs_input: "alert",
  stuck: "alert",
  failed: "alert",
  unknown: "alert",
  ci_failed: "alert",
  changes_requested: "alert",
  starting: "busy",
  working: "busy",
  pr_open: "good",
  review_pending: "good",
  approved: "good",
  mergeable: "good",
  merged: "good",
  running: "calm",
  idle: "calm",
  stopped: "calm",
  snoozed: "calm",
  archived: "over",
  exited: "over",
  done: "over",
  killed: "over",
};

export function toneOf(status: Status): Tone {
  return tones[status];
}

/** `needs_input` as people say it. */
export function statusWords(status: Status): string {
  return status.replaceAll("_", " ").replace(/^pr\b/, "PR").replace(/^ci\b/, "CI");
}
