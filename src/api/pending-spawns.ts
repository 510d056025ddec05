/**
 * Spawns between their checks and their record. Both take a moment, and two at once must not pass the same limit or choose
 * the same id. And those that somebody waits for.
 */
import type { SessionId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";

interface PendingSpawn {
  project: string;
  role: SessionState["role"];
  id: string | null;
}

export class PendingSpawns {
  readonly #pending = new Set<PendingSpawn>();
  readonly #awaited = new Map<string, SessionId>();

  /** Counted until it is left, which is when its session is on record or was refused. */
  enter(project: string, role: SessionState["role"]): { choose: (id: string) => void } & Disposable {
    const spawn: PendingSpawn = { project, role, id: null };
    this.#pending.add(spawn);
    return {
      choose: (id) => void (spawn.id = id),
      [Symbol.dispose]: () => void this.#pending.delete(spawn),
    };
  }

  /** Until whoever asked has the answer, the session can be found by the name they gave their request. */
  await(request: string | undefined, session: SessionId): Disposable {
    if (request !== undefined) this.#awaited.set(request, session);
    return { [Symbol.dispose]: () => void (request !== undefined && this.#awaited.delete(request)) };
  }

  awaited(request: string): SessionId | null {
    return this.#awaited.get(request) ?? null;
  }

  isChosen(id: string): boolean {
    return [...this.#pending].some((spawn) => spawn.id === id);
  }

  of(project: string): readonly Pick<PendingSpawn, "role">[] {
    return [...this.#pending].filter((spawn) => spawn.project === project);
  }
}
