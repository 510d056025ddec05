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
export function takingOver(workspaces: Worktrees, parts: Needed): Worktrees {
  const first = async (path: string): Promise<void> => {
    const found = [...parts.store.sessions(), ...parts.store.deleting()].find((one) => one.workspacePath === path);
    if (found === undefined || !isContained(found)) return;
    // A full disk must not prevent an inspection or a kill: what is not taken over stays where it is.
    await parts.contain.takeOver(found).catch((error: unknown) => failed(parts, found, error));
  };
  const behind =
    <Given extends [string, ...unknown[]], T>(call: (...given: Given) => Promise<T>) =>
    async (...given: Given): Promise<T> => {
      await first(given[0]);
      return await call(...given);
    };
  return {
    ...workspaces,
    inspect: behind((path) => workspaces.inspect(path)),
    isOwnCommit: behind((path: string, commit: string, base: string) => workspaces.isOwnCommit(path, commit, base)),
    changes: behind((path: string, against: Parameters<Worktrees["changes"]>[1]) => workspaces.changes(path, against)),
    patch: behind((path: string, ...rest: Tail<Worktrees["patch"]>) => workspaces.patch(path, ...rest)),
    files: behind((path: string, ...rest: Tail<Worktrees["files"]>) => workspaces.files(path, ...rest)),
    async mergeFacts(question) {
      await first(question.path);
      return await workspaces.mergeFacts(question);
    },
    async trash(request) {
      await first(request.path);
      return await workspaces.trash(request);
    },
    async findReturned(own) {
      await first(own.path);
      return await workspaces.findReturned(own);
    },
  };
}

type Tail<F extends (...given: never[]) => unknown> = Parameters<F> extends [unknown, ...infer Rest] ? Rest : never;

function isContained({ contain }: SessionState): boolean {
  return contain !== undefined && contain.mode !== "off";
}

/** A turn's last event is followed by others; they are handled together. */
const restMs = 200;

/** Takes over the commits of sessions that became inactive. Returns how to stop. */
export function followContained(parts: Needed): () => void {
  const done = new Map<SessionId, number>();
  let timer: NodeJS.Timeout | null = null;
  const look = (): void => {
    timer = null;
    for (const session of parts.store.sessions()) {
      if (!isContained(session) || !rests(session) || done.get(session.id) === session.seq) continue;
      done.set(session.id, session.seq);
      parts.contain.takeOver(session).catch((error: unknown) => {
        done.delete(session.id);
        failed(parts, session, error);
      });
    }
  };
  // Sessions that became inactive while no daemon ran.
  timer = setTimeout(look, restMs).unref();
  const stop = parts.store.onCommit(() => (timer ??= setTimeout(look, restMs).unref()));
  return () => {
    stop();
    if (timer !== null) clearTimeout(timer);
  };
}

function failed({ log }: Needed, { id }: SessionState, error: unknown): void {
  log.warn("cannot take over commits of a contained session", { session: id, error });
}

function rests({ run, turn, activity }: SessionState): boolean {
  if (run.run !== "up") return true;
  return turn.turn === "ended" || (activity !== null && activity.activity !== "working");
}
