/** `status`: one line a session, by what it needs from the person. */
import { isTerminated, type Status } from "../../protocol/session.ts";
import type { SessionJson } from "../../protocol/wire.ts";
import type { Paint } from "./paint.ts";
import { ageOf, clean, compareNaturally, count } from "./text.ts";

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
  "id" | "status" | "reason" | "title" | "agent" | "branch" | "pullRequest" | "createdAt" | "lastActivityAt"
>;

export function statusLines(
  sessions: readonly StatusRow[],
  { includeTerminated }: { includeTerminated: boolean },
  paint: Paint,
  now: number,
): string[] {
  const shown = sessions.filter(({ status }) => includeTerminated || !isTerminated(status));
  const lines: string[] = [];
  const idWidth = Math.max(0, ...shown.map(({ id }) => id.length));
  const statusWidth = Math.max(0, ...shown.map(({ status }) => status.length));
  for (const group of order) {
    const members = shown
      .filter(({ status }) => groups[status] === group)
      .toSorted((a, b) => compareNaturally(a.id, b.id));
    if (members.length === 0) continue;
    if (lines.length > 0) lines.push("");
    lines.push(paint.bold(`${group} (${members.length})`));
    for (const session of members) {
      const { id, status, agent, branch, title, reason, pullRequest } = session;
      const parts = [
        paint.green(id.padEnd(idWidth)),
        paint.dim(status.padEnd(statusWidth)),
        paint.dim(ageOf(session.lastActivityAt ?? session.createdAt, now).padStart(3)),
        clean(agent),
        ...(branch === null ? [] : [paint.cyan(clean(branch))]),
        clean(title),
        ...(pullRequest === null ? [] : [paint.blue(clean(pullRequest.url))]),
      ];
      lines.push(`  ${parts.join("  ")}`.trimEnd());
      if (reason !== null) lines.push(paint.dim(`    ${clean(reason)}`));
    }
  }
  const hidden = sessions.length - shown.length;
  if (hidden > 0) lines.push(`${count(hidden, "terminated session")} hidden. Use --include-terminated to show.`);
  return lines.length === 0 ? ["No sessions. Start one with holdfast spawn."] : lines;
}
