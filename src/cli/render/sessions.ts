/** `session ls`: pure, from the daemon's answer to lines. */
import { isTerminated, needsYou, sortSessions } from "../../model/board.ts";
import type { SessionJson } from "../../contract/session.ts";
import { needLines } from "./need.ts";
import { type Paint, clean, count } from "./text.ts";
import { formatAgeOf } from "../../model/duration.ts";
import { compareNaturally } from "../../model/text.ts";

export interface ListOptions {
  /** Also orchestrators; each line then ends with the role. */
  all: boolean;
  includeTerminated: boolean;
}

export type Listed = Pick<
  SessionJson,
  | "id"
  | "project"
  | "kind"
  | "role"
  | "status"
  | "reason"
  | "needsYou"
  | "permissions"
  | "branch"
  | "pullRequest"
  | "createdAt"
  | "lastActivityAt"
>;

export function chooseSessions<S extends Listed>(
  sessions: readonly S[],
  { all, includeTerminated }: ListOptions,
): { shown: S[]; hidden: number } {
  const listed = sessions.filter(({ role }) => all || role !== "orchestrator");
  const byId = sortSessions(listed);
  const candidates = byId.sort((a, b) => compareNaturally(a.project, b.project));
  const shown = candidates.filter(({ status }) => includeTerminated || !isTerminated(status));
  return { shown, hidden: candidates.length - shown.length };
}

export function sessionLines(sessions: readonly Listed[], options: ListOptions, paint: Paint, now: number): string[] {
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
  if (hidden > 0) lines.push(`${count(hidden, "terminated session")} hidden. Use --include-terminated to show.`);
  if (lines.length === 0) lines.push("No sessions. Start one with holdfast spawn.");
  return lines;
}

function sessionLine(session: Listed, withRole: boolean, paint: Paint, now: number): string {
  const parts = [
    paint.green(clean(session.id)),
    paint.dim(`(${formatAgeOf(session.lastActivityAt ?? session.createdAt, now)})`),
    ...(session.branch === null ? [] : [paint.cyan(clean(session.branch))]),
    paint.dim(`[${session.status}]`),
    ...(session.pullRequest === null ? [] : [paint.blue(clean(session.pullRequest.url))]),
    ...(withRole ? [session.role] : []),
  ];
  return `  ${parts.join("  ")}`;
}
