/** What is worth calling a person back for: only what changed just now, and only what waits for them. */
import type { Status } from "../../model/session.ts";
import type { SessionJson } from "../../contract/wire.ts";
import { columnOf } from "../../model/board.ts";
import type { SessionChange, SessionEventJson } from "./live.ts";

export interface Call {
  session: string;
  title: string;
  text: string;
  /** The same in every tab, so that the browser shows it once. */
  tag: string;
}

const busy: ReadonlySet<Status> = new Set<Status>(["starting", "working"]);

export function callsFor(changes: readonly SessionChange[]): Call[] {
  return changes.flatMap(({ before, after }) => {
    const text = reasonToCall(before, after);
    if (text === null) return [];
    return [{ session: after.id, title: after.title, text, tag: `holdfast:${after.id}:${after.seq}` }];
  });
}

/** Statuses that call by themselves, in the same breath as the daemon's own notification. */
const called: ReadonlySet<Status> = new Set<Status>(["needs_input", "failed"]);

/** What the daemon notifies of, as the project's reactions say: the same call in every tab. */
export function notesFor(
  events: readonly SessionEventJson[],
  statusOf: (session: string) => Status | undefined,
): Call[] {
  return events.flatMap((event) => {
    const status = statusOf(event.session);
    if (event.type !== "notification" || status === undefined || called.has(status)) return [];
    const [title, text, id] = [event["title"], event["text"], event["id"]].map(String) as [string, string, string];
    return [{ session: event.session, title, text, tag: `holdfast:${id}` }];
  });
}

function reasonToCall(before: SessionJson | undefined, after: SessionJson): string | null {
  const asked = newQuestion(before, after);
  if (asked !== null) return `Asks: ${asked}`;
  if (before?.status === after.status) return null;
  if (after.status === "needs_input") return after.reason ?? "Waits for your answer.";
  if (after.status === "failed") return `Failed: ${after.reason ?? "it did not start."}`;
  // A session that was just made and waits for its first prompt has finished nothing.
  if (before === undefined || !busy.has(before.status) || before.status === "starting") return null;
  const need = columnOf(after);
  if (after.status === "stuck") return "Has said nothing for a long time.";
  // The daemon notifies of a failed turn itself, as the project's reactions are configured.
  return need === "idle" || need === "review" ? "Finished its turn." : null;
}

function newQuestion(before: SessionJson | undefined, after: SessionJson): string | null {
  const known = new Set(before?.permissions.map(({ requestId }) => requestId));
  return after.permissions.find(({ requestId }) => !known.has(requestId))?.title ?? null;
}
