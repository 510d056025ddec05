/** Where a session is on the board and in lists: its column, tone, label and order. */
import type { SessionJson } from "../contract/session.ts";
import type { Status } from "../contract/ids.ts";
import { sortedNaturally } from "./text.ts";

export const columns = ["you", "working", "review", "idle", "ended"] as const;
export type Column = (typeof columns)[number];

export const columnTitles: Record<Column, string> = {
  you: "Needs you",
  working: "Working",
  review: "Ready to review",
  idle: "Idle",
  ended: "Ended",
};

export type Tone = "alert" | "busy" | "good" | "calm" | "over";

const byStatus: Record<Status, readonly [Column, Tone]> = {
  needs_input: ["you", "alert"],
  stuck: ["you", "alert"],
  failed: ["you", "alert"],
  unknown: ["you", "alert"],
  ci_failed: ["you", "alert"],
  changes_requested: ["you", "alert"],
  starting: ["working", "busy"],
  working: ["working", "busy"],
  running: ["working", "calm"],
  pr_open: ["review", "good"],
  review_pending: ["review", "good"],
  approved: ["review", "good"],
  mergeable: ["review", "good"],
  merged: ["review", "good"],
  idle: ["idle", "calm"],
  stopped: ["idle", "calm"],
  snoozed: ["idle", "calm"],
  archived: ["ended", "over"],
  exited: ["ended", "over"],
  done: ["ended", "over"],
  killed: ["ended", "over"],
};

/** Whether a session of this status waits for the user; `needsYou` also covers a failed turn. */
export function statusNeedsYou(status: Status): boolean {
  return byStatus[status][0] === "you";
}

/** Whether `session ls` hides a session of this status by default. */
export function isTerminated(status: Status): boolean {
  return byStatus[status][0] === "ended";
}

export function needsYou(session: Pick<SessionJson, "status" | "needsYou">): boolean {
  return columnOf(session) === "you";
}

/** Daemons of earlier builds leave `needsYou` out. */
export function columnOf({ status, needsYou }: Pick<SessionJson, "status" | "needsYou">): Column {
  return needsYou === true ? "you" : byStatus[status][0];
}

export function toneOf(status: Status): Tone {
  return byStatus[status][1];
}

/** `needs_input` as a label: "needs input". */
export function statusLabel(status: Status): string {
  return status.replaceAll("_", " ").replace(/^pr\b/, "PR").replace(/^ci\b/, "CI");
}

/** What lists show beside the status, in a word or two each. */
export function marksOf({ pinned, queued }: Pick<SessionJson, "pinned" | "queued">): string[] {
  return [...(pinned === true ? ["pinned"] : []), ...(queued === 0 ? [] : [`${queued} queued`])];
}

export type SortOrder = "name" | "created" | "activity";
type Sorted = Pick<SessionJson, "id" | "pinned" | "createdAt" | "lastActivityAt">;

/** Activity counts by the minute: otherwise cards of agents that work at the same time would swap with every message. */
const activityStepMs = 60_000;

const differences: Record<SortOrder, (a: Sorted, b: Sorted) => number> = {
  name: () => 0,
  created: (a, b) => timeOf(b.createdAt) - timeOf(a.createdAt),
  activity: (a, b) => activityStep(b) - activityStep(a),
};

function activityStep({ lastActivityAt }: Sorted): number {
  return Math.floor(timeOf(lastActivityAt) / activityStepMs);
}

/** Pinned sessions first, then in this order; ties are broken by id. */
function compare(a: Sorted, b: Sorted, order: SortOrder): number {
  return Number(b.pinned === true) - Number(a.pinned === true) || differences[order](a, b);
}

/** The one order of sessions in lists and columns. */
export function sortSessions<S extends Sorted>(sessions: Iterable<S>, order: SortOrder = "name"): S[] {
  return sortedNaturally([...sessions], ({ id }) => id).sort((a, b) => compare(a, b, order));
}

type Placed = Sorted & Pick<SessionJson, "status" | "needsYou">;

/** Whether this change of a session can move it: to another column, or within it. */
export function isMoved(before: Placed, after: Placed, order: SortOrder): boolean {
  return columnOf(before) !== columnOf(after) || compare(before, after, order) !== 0;
}

/** Sessions by column, each column in order. */
export function byColumn<S extends Placed>(sessions: Iterable<S>, order: SortOrder = "name"): Record<Column, S[]> {
  const found: Record<Column, S[]> = { you: [], working: [], review: [], idle: [], ended: [] };
  for (const session of sortSessions(sessions, order)) found[columnOf(session)].push(session);
  return found;
}

function timeOf(text: string | null | undefined): number {
  return text === null || text === undefined ? 0 : Date.parse(text);
}
