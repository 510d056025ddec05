/** Changes worth alerting the user about: recent, and waiting for the user. */
import type { Status } from "../../../contract/ids.ts";
import type { SessionJson } from "../../../contract/session.ts";
import { columnOf } from "../../../model/board.ts";
import type { SessionChange, SessionEventJson } from "./live.ts";

export interface Alert {
  session: string;
  title: string;
  text: string;
  /** Equal in every tab, so that the browser shows it once. */
  tag: string;
}

export function alertsFor(changes: readonly SessionChange[]): Alert[] {
  return changes.flatMap(({ before, after }) => {
    const text = alertText(before, after);
    if (text === null) return [];
    return [{ session: after.id, title: after.title, text, tag: `holdfast:${after.id}:${after.seq}` }];
  });
}

/** Statuses that alert on their own, at the same time as the daemon's notification. */
const alerting: ReadonlySet<Status> = new Set<Status>(["needs_input", "failed"]);

/** The daemon's notifications, as configured in the project's reactions. */
export function notificationAlerts(
  events: readonly SessionEventJson[],
  statusOf: (session: string) => Status | undefined,
): Alert[] {
  return events.flatMap((event) => {
    const status = statusOf(event.session);
    if (event.type !== "notification" || status === undefined || alerting.has(status)) return [];
    const [title, text, id] = [event["title"], event["text"], event["id"]].map(String) as [string, string, string];
    return [{ session: event.session, title, text, tag: `holdfast:${id}` }];
  });
}

function alertText(before: SessionJson | undefined, after: SessionJson): string | null {
  const asked = newRequest(before, after);
  if (asked !== null) return `Asks: ${asked}`;
  if (before?.status === after.status) return null;
  if (after.status === "needs_input") return after.reason ?? "Needs your answer.";
  if (after.status === "failed") return `Failed: ${after.reason ?? "it did not start."}`;
  // A new session that waits for its first prompt has not finished anything.
  if (before?.status !== "working") return null;
  const need = columnOf(after);
  if (after.status === "stuck") return "No activity for a long time.";
  // The daemon notifies about failed turns, as configured in the project's reactions.
  return need === "idle" || need === "review" ? "Finished its turn." : null;
}

function newRequest(before: SessionJson | undefined, after: SessionJson): string | null {
  const known = new Set(before?.permissions.map(({ requestId }) => requestId));
  return after.permissions.find(({ requestId }) => !known.has(requestId))?.title ?? null;
}
