/** Whether a project's workers have all finished, and which set of them that is. */
import type { SessionId } from "../protocol/ids.ts";
import type { SessionState, Status } from "../protocol/session.ts";
import { contentKey } from "./outside-text.ts";

const finished: ReadonlySet<Status> = new Set<Status>(["done", "merged"]);
const over: ReadonlySet<Status> = new Set<Status>(["done", "merged", "exited", "killed", "archived"]);

/** The session that it is told of (the one that finished last), and the key of the set; null while it is not so. */
export function allDone(
  sessions: readonly { session: SessionState; status: Status }[],
): { session: SessionId; key: string } | null {
  const workers = sessions.filter(({ session }) => session.role === "worker");
  if (!workers.every(({ status }) => over.has(status))) return null;
  const done = workers.filter(({ status, session }) => finished.has(status) && session.intent.want !== "killed");
  const last = done.toSorted((a, b) => b.session.lastActivityAt - a.session.lastActivityAt)[0];
  if (last === undefined) return null;
  const ids = workers.map(({ session }) => session.id).toSorted();
  return { session: last.session.id, key: `all:${contentKey(ids.join("\n"))}` };
}
