/** Whether a project's workers have all finished, and which set of them that is. */
import type { SessionId } from "../../contract/ids.ts";
import type { ReactionAction } from "../../contract/reaction.ts";
import type { SessionState, Status } from "../../model/session.ts";
import { orchestratorOf } from "../../model/roles.ts";
import { contentKey } from "../../model/text.ts";

const finished: ReadonlySet<Status> = new Set<Status>(["done", "merged"]);
const over: ReadonlySet<Status> = new Set<Status>(["done", "merged", "exited", "killed", "archived"]);

/**
 * The session that it is told of, and the key of the set; null while it is not so. A message is for the orchestrator, where
 * there is one; else it is the worker that finished last.
 */
export function allDone(
  sessions: readonly { session: SessionState; status: Status }[],
  action: ReactionAction,
): { session: SessionId; key: string } | null {
  const workers = sessions.filter(({ session }) => session.role === "worker");
  if (!workers.every(({ status }) => over.has(status))) return null;
  const done = workers.filter(({ status, session }) => finished.has(status) && session.intent.want !== "killed");
  const last = done.toSorted((a, b) => b.session.lastActivityAt - a.session.lastActivityAt)[0];
  if (last === undefined) return null;
  const ids = workers.map(({ session }) => session.id).toSorted();
  const all = sessions.map(({ session }) => session);
  const leader = action === "send-to-agent" ? orchestratorOf(all, last.session.project) : null;
  return { session: (leader ?? last.session).id, key: `all:${contentKey(ids.join("\n"))}` };
}
