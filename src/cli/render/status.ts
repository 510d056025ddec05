/** `status`: sessions by what they need from the user. */
import { byColumn, columns, columnTitles, isTerminated } from "../../model/board.ts";
import type { SessionJson } from "../../contract/session.ts";
import { needLines } from "./need.ts";
import { type Paint, clean, count, cut } from "./text.ts";
import { formatAgeOf } from "../../model/duration.ts";

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
  const grouped = byColumn(shown);
  for (const column of columns) {
    const members = grouped[column];
    if (members.length === 0) continue;
    if (lines.length > 0) add("");
    add(paint.bold(`${columnTitles[column]} (${members.length})`));
    for (const session of members) {
      const { id, status, agent, branch, title, pullRequest } = session;
      const parts = [
        paint.green(id.padEnd(idWidth)),
        paint.dim(status.padEnd(statusWidth)),
        paint.dim(formatAgeOf(session.lastActivityAt ?? session.createdAt, now).padStart(3)),
        clean(agent),
        ...(branch === null ? [] : [paint.cyan(clean(branch))]),
        clean(title),
        ...(pullRequest === null ? [] : [paint.blue(clean(pullRequest.url))]),
      ];
      add(`  ${parts.join("  ")}`.trimEnd(), true);
      for (const line of needLines(session)) add((column === "you" ? paint.yellow : paint.dim)(`    ${line}`));
    }
  }
  const hidden = sessions.length - shown.length;
  if (hidden > 0) add(`${count(hidden, "terminated session")} hidden. Use --include-terminated to show.`);
  if (lines.length === 0) add("No sessions. Start one with holdfast spawn.");
  return lines;
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
