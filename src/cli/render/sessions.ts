/** Lists of sessions: `session ls`, `status`, and what a session needs from the user. */
import type { SessionJson } from "../../contract/session.ts";
import { requestName } from "../../contract/permission-request.ts";
import { byColumn, columns, columnTitles, isTerminated, marksOf, needsYou, sortSessions } from "../../model/board.ts";
import { formatAgeOf } from "../../model/duration.ts";
import { compareNaturally, shorten } from "../../model/text.ts";
import { clean, count, cut, type Paint } from "./text.ts";

export interface ListOptions {
  /** Also orchestrators; each line then ends with the role. */
  all: boolean;
  includeTerminated: boolean;
}

export function chooseSessions(
  sessions: readonly SessionJson[],
  { all, includeTerminated }: ListOptions,
): { shown: SessionJson[]; hidden: number } {
  const listed = sessions.filter(({ role }) => all || role !== "orchestrator");
  const byId = sortSessions(listed);
  const candidates = byId.sort((a, b) => compareNaturally(a.project, b.project));
  const shown = candidates.filter(({ status }) => includeTerminated || !isTerminated(status));
  return { shown, hidden: candidates.length - shown.length };
}

export function sessionLines(
  sessions: readonly SessionJson[],
  options: ListOptions,
  paint: Paint,
  now: number,
): string[] {
  const { shown, hidden } = chooseSessions(sessions, options);
  const lines: string[] = [];
  let project: string | null = null;
  for (const session of shown) {
    if (session.project !== project) {
      if (project !== null) lines.push("");
      project = session.project;
      lines.push(`${clean(project)}:`);
    }
    lines.push(sessionLine(session, options.all, paint, now));
    if (needsYou(session)) for (const line of needLines(session)) lines.push(paint.yellow(`    ${line}`));
  }
  return [...lines, ...lastLines(lines.length, hidden)];
}

function sessionLine(session: SessionJson, withRole: boolean, paint: Paint, now: number): string {
  const parts = [
    paint.green(clean(session.id)),
    paint.dim(`(${formatAgeOf(session.lastActivityAt ?? session.createdAt, now)})`),
    ...(session.branch === null ? [] : [paint.cyan(clean(session.branch))]),
    paint.dim(`[${session.status}]`),
    ...(session.pullRequest === null ? [] : [paint.blue(clean(session.pullRequest.url))]),
    ...marksOf(session).map(paint.dim),
    ...(withRole ? [session.role] : []),
  ];
  return `  ${parts.join("  ")}`;
}

/** A line of the list; `session`: it is the first line of one. */
export interface StatusLine {
  text: string;
  session: boolean;
}

export function statusLines(
  sessions: readonly SessionJson[],
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
  for (const line of lastLines(lines.length, sessions.length - shown.length)) add(line);
  return lines;
}

/** As many lines as fit, with a count of the sessions that do not; sessions that need the user come first. */
export function fitted(lines: readonly StatusLine[], size: { columns: number; rows: number }): string[] {
  const cutLine = ({ text }: StatusLine): string => cut(text, size.columns);
  const room = Math.max(1, size.rows);
  if (lines.length <= room) return lines.map(cutLine);
  const rest = lines.slice(room - 1).filter(({ session }) => session).length;
  const more = rest === 0 ? "…" : `… and ${count(rest, "more session")}`;
  return [...lines.slice(0, room - 1).map(cutLine), cut(more, size.columns)];
}

function lastLines(printed: number, hidden: number): string[] {
  if (hidden > 0) return [`${count(hidden, "terminated session")} hidden. Use --include-terminated to show.`];
  return printed === 0 ? ["No sessions. Start one with holdfast spawn."] : [];
}

/** What the agent asks the user: its open permission request, or the dialog on its screen. */
export function questionOf({ status, reason, permissions }: SessionJson): string | null {
  if (status !== "needs_input") return null;
  const [first, ...more] = permissions;
  if (first === undefined) return clean(reason ?? "The agent waits for an answer");
  const { title, command } = first;
  // The agent chooses the title freely; the command is what it runs.
  const runs = command === undefined || command === null || command === title ? "" : ` · runs: ${clean(command)}`;
  const text = shorten(`${clean(title)}${runs}`, maxQuestion);
  return `${text}${more.length === 0 ? "" : ` (and ${more.length} more)`}`;
}

/** The rest is in `acp questions`, which the hint names. */
const maxQuestion = 2000;

/** The command that answers the request, fixes the problem or shows the session. */
export function commandFor({ id, kind, status, permissions }: SessionJson): { what: string; command: string } | null {
  if (status === "failed") return { what: "Restore", command: `holdfast session restore ${id}` };
  if (status !== "needs_input") return null;
  return kind === "chat" && permissions.length > 0
    ? { what: "Answer", command: answerCommand(id, permissions) }
    : { what: "Answer", command: `holdfast attach ${id}` };
}

/** Names the request, so that the user answers the one that was shown. */
function answerCommand(id: string, [first, ...more]: SessionJson["permissions"]): string {
  const see = first!.more === true || more.length > 0 ? `; all of it: holdfast acp questions ${id}` : "";
  return `holdfast acp approve ${id} ${requestName(first!.requestId)} (or deny)${see}`;
}

/** Fragments without indentation; empty if the status explains itself. */
function needLines(session: SessionJson): string[] {
  const question = questionOf(session);
  const answer = commandFor(session);
  return [
    ...(question !== null ? [`Asks: ${question}`] : session.reason === null ? [] : [clean(session.reason)]),
    ...(answer === null ? [] : [`${answer.what}: ${answer.command}`]),
  ];
}
