/**
 * Commits of contained agents are in their own folders until they are taken over: before anything asks git about their
 * worktrees, and whenever one becomes inactive, so that your own git sees them too.
 */
import type { Store } from "../ports/store.ts";
import type { Logger } from "../ports/api.ts";
import type { Containing } from "../ports/contain.ts";
import type { Worktrees } from "../ports/worktree.ts";
import type { SessionId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";

type Needed = { store: Store; contain: Containing; log: Logger };

/** Worktrees; takes over a contained session's commits before inspecting or moving one. */
export function takingOver(workspaces: Worktrees, services: Needed): Worktrees {
  const first = async (path: string): Promise<void> => {
    const found = [...services.store.sessions(), ...services.store.deleting()].find(
      (one) => one.workspacePath === path,
    );
    if (found === undefined || !isContained(found)) return;
    // A full disk must not prevent an inspection or a kill: what is not taken over stays where it is.
    await services.contain.takeOver(found).catch((error: unknown) => failed(services, found, error));
  };
  const behind =
    <Given extends [string | { path: string }, ...unknown[]], T>(call: (...given: Given) => Promise<T>) =>
    async (...given: Given): Promise<T> => {
      await first(typeof given[0] === "string" ? given[0] : given[0].path);
      return await call(...given);
    };
  return {
    ...workspaces,
    inspect: behind((...given) => workspaces.inspect(...given)),
    isOwnCommit: behind((...given) => workspaces.isOwnCommit(...given)),
    changes: behind((...given) => workspaces.changes(...given)),
    patch: behind((...given) => workspaces.patch(...given)),
    files: behind((...given) => workspaces.files(...given)),
    mergeFacts: behind((...given) => workspaces.mergeFacts(...given)),
    trash: behind((...given) => workspaces.trash(...given)),
    findReturned: behind((...given) => workspaces.findReturned(...given)),
  };
}

function isContained({ contain }: SessionState): boolean {
  return contain !== undefined && contain.mode !== "off";
}

/** A turn's last event is followed by others; they are handled together. */
const restMs = 200;

/** Takes over the commits of sessions that became inactive. Returns how to stop. */
export function followContained(services: Needed): () => void {
  const done = new Map<SessionId, number>();
  let timer: NodeJS.Timeout | null = null;
  const check = (): void => {
    timer = null;
    for (const session of services.store.sessions()) {
      if (!isContained(session) || !isIdleOrDown(session) || done.get(session.id) === session.seq) continue;
      done.set(session.id, session.seq);
      services.contain.takeOver(session).catch((error: unknown) => {
        done.delete(session.id);
        failed(services, session, error);
      });
    }
  };
  // Sessions that became inactive while no daemon ran.
  timer = setTimeout(check, restMs).unref();
  const stop = services.store.onCommit(() => (timer ??= setTimeout(check, restMs).unref()));
  return () => {
    stop();
    if (timer !== null) clearTimeout(timer);
  };
}

function failed({ log }: Needed, { id }: SessionState, error: unknown): void {
  log.warn("cannot take over commits of a contained session", { session: id, error });
}

function isIdleOrDown({ run, turn, activity }: SessionState): boolean {
  if (run.run !== "up") return true;
  return turn.turn === "ended" || (activity !== null && activity.activity !== "working");
}
