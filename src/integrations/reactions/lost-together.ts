/** Sessions that a reboot or a lost tmux server took down together: one notification for all of them. */
import type { SessionId } from "../../contract/ids.ts";
import type { SessionState, Status } from "../../model/session.ts";
import type { ReactionFacts } from "./plan.ts";

/**
 * `sessions` are the project's. The session whose end was recorded last announces all of them; while the end of another
 * one is still being determined, none does, because that one will.
 */
export function lostTogether(
  session: SessionState,
  sessions: readonly { session: SessionState; status: Status }[],
): NonNullable<ReactionFacts["lostTogether"]> {
  if (!isLost(session)) return [];
  if (sessions.some((one) => one.status === "unknown" && one.session.kind === session.kind)) {
    return "announced-by-another";
  }
  const lost = sessions.filter((one) => one.status === "failed" && isLost(one.session)).map((one) => one.session);
  const last = lost.toSorted((a, b) => endOf(b) - endOf(a) || (a.id < b.id ? -1 : 1))[0];
  return last === undefined || last.id === session.id ? idsOf(lost) : "announced-by-another";
}

function isLost({ run }: SessionState): boolean {
  return run.run === "ended" && run.how === "lost";
}

function endOf({ run }: SessionState): number {
  return run.run === "ended" ? run.at : 0;
}

function idsOf(sessions: readonly SessionState[]): SessionId[] {
  return sessions.map(({ id }) => id).toSorted((a, b) => a.localeCompare(b, "en", { numeric: true }));
}
