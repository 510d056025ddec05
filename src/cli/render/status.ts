/** `status`: sessions by what they need from the user. */
import { isTerminated, type Status } from "../../model/session.ts";
import type { SessionJson } from "../../contract/wire.ts";
import { needLines } from "./need.ts";
import { type Paint, ageOf, clean, compareNaturally, count, cut } from "./text.ts";
import { needsYou } from "./sessions.ts";

type Group = "Needs you" | "Working" | "Ready to review" | "Idle" | "Ended";
const order: readonly Group[] = ["Needs you", "Working", "Ready to review", "Idle", "Ended"];

const groups: Record<Status, Group> = {
  needs_input: "Needs you",
  failed: "Needs you",
  unknown: "Needs you",
  stuck: "Needs you",
  ci_failed: "Needs you",
  changes_requested: "Needs you",
  starting: "Working",
  working: "Working",
  pr_open: "Ready to review",
  review_pending: "Ready to review",
  approved: "Ready to review",
  mergeable: "Ready to review",
  merged: "Ready to review",
  running: "Working",
  idle: "Idle",
  stopped: "Idle",
  snoozed: "Idle",
  archived: "Ended",
  exited: "Ended",
  done: "Ended",
  killed: "Ended",
};

export type StatusRow = Pick<
  SessionJson,
  | "id"
  | "kind"
  | "status"
  | "reason"
  | "needsYou"
  | "permissions"
  | "title"
  | "agent"
  | "branch"
  | "pullRequest"
  | "createdAt"
  | "lastActivityAt"
>;

/** A line of the list; `session` where it is the first of a session's. */
export interface StatusLine {
  text: string;
  session: boolean;
}

export function statusLines(
  sessions: readonly StatusRow[],
  { includeTerminated }: { includeTerminated: boolean },
  paint: Paint,
  now: number,
): StatusLine[] {
  const shown = sessions.filter(({ status }) => includeTerminated || !isTerminated(status));
  const lines: StatusLine[] = [];
  const add = (text: string, session = false): void => void lines.push({ text, session });
  const idWidth = Math.max(0, ...shown.map(({ id }) => id.length));
  const statusWidth = Math.max(0, ...shown.map(({ status }) => status.length));
  for (const group of order) {
    const members = shown
      .filter((session) => groupOf(session) === group)
      .toSorted((a, b) => compareNaturally(a.id, b.id));
    if (members.length === 0) continue;
    if (lines.length > 0) add("");
    add(paint.bold(`${group} (${members.length})`));
    for (const session of members) {
      const { id, status, agent, branch, title, pullRequest } = session;
      const parts = [
        paint.green(id.padEnd(idWidth)),
        paint.dim(status.padEnd(statusWidth)),
        paint.dim(ageOf(session.lastActivityAt ?? session.createdAt, now).padStart(3)),
        clean(agent),
        ...(branch === null ? [] : [paint.cyan(clean(branch))]),
        clean(title),
        ...(pullRequest === null ? [] : [paint.blue(clean(pullRequest.url))]),
      ];
      add(`  ${parts.join("  ")}`.trimEnd(), true);
      for (const line of needLines(session)) add((group === "Needs you" ? paint.yellow : paint.dim)(`    ${line}`));
    }
  }
  const hidden = sessions.length - shown.length;
  if (hidden > 0) add(`${count(hidden, "terminated session")} hidden. Use --include-terminated to show.`);
  if (lines.length === 0) add("No sessions. Start one with holdfast spawn.");
  return lines;
}

function groupOf(session: StatusRow): Group {
  return needsYou(session) ? "Needs you" : groups[session.status];
}

/** As many lines as fit, with a count of the sessions that do not; what needs the user comes first in any case. */
export function fitted(lines: readonly StatusLine[], size: { columns: number; rows: number }): string[] {
  const cutLine = ({ text }: StatusLine): string => cut(text, size.columns);
  const room = Math.max(1, size.rows);
  if (lines.length <= room) return lines.map(cutLine);
  const rest = lines.slice(room - 1).filter(({ session }) => session).length;
  const more = rest === 0 ? "…" : `… and ${count(rest, "more session")}`;
  return [...lines.slice(0, room - 1).map(cutLine), cut(more, size.columns)];
}
