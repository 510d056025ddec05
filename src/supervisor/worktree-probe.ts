/** Observes worktrees beyond their existence: in the trash without a record, or still being created. Only if it matters for a session. */
import type { Store } from "../ports/store.ts";
import type { TrashEntry, Worktrees } from "../ports/worktree.ts";
import type { SessionId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import { isRecordedEnd } from "./unrecorded.ts";

export class WorktreeProbe {
  readonly #workspaces: Worktrees;
  readonly #store: Store;
  /** The newest entry per session. */
  readonly #movedToTrash = new Map<SessionId, TrashEntry>();
  readonly #isCreating = new Set<SessionId>();

  constructor(workspaces: Worktrees, store: Store) {
    this.#workspaces = workspaces;
    this.#store = store;
  }

  /** Whether the worktree is in the trash without a record of it. */
  isInTrash(id: SessionId): boolean {
    return this.#movedToTrash.has(id);
  }

  /** Whether an unrecorded kill moved it there: then the record is older than the kill. */
  isTrashedUnrecorded(session: SessionState): boolean {
    const entry = this.#movedToTrash.get(session.id);
    return entry !== undefined && !isRecordedEnd(this.#store, session, entry);
  }

  /** Whether a worktree that is no longer needed is still being created. */
  isCreating(id: SessionId): boolean {
    return this.#isCreating.has(id);
  }

  async observe(sessions: readonly SessionState[]): Promise<void> {
    for (const { id } of sessions) this.forget(id);
    await Promise.all([this.#checkTrash(sessions), this.#checkCreations(sessions)]);
  }

  forget(id: SessionId): void {
    this.#movedToTrash.delete(id);
    this.#isCreating.delete(id);
  }

  /** After a crash between the move of a worktree and its record, only the trash's own list has it. */
  async #checkTrash(sessions: readonly SessionState[]): Promise<void> {
    const missing = sessions.filter(
      ({ workspace, workspacePath }) => workspace.at === "ready" && this.#workspaces.exists(workspacePath) === false,
    );
    if (missing.length === 0) return;
    const ids = new Set(missing.map(({ id }) => id));
    for (const entry of await this.#workspaces.listTrash()) {
      const known = this.#movedToTrash.get(entry.session)?.trashedAt ?? -Infinity;
      if (ids.has(entry.session) && entry.trashedAt >= known) this.#movedToTrash.set(entry.session, entry);
    }
  }

  /** Commands that create a worktree outlive their daemon, and may still run when the session should end. */
  async #checkCreations(sessions: readonly SessionState[]): Promise<void> {
    const unwanted = sessions.filter(
      ({ workspace, intent }) => workspace.at === "planned" && intent.want !== "running",
    );
    const check = async ({ id, workspacePath }: SessionState): Promise<void> => {
      if (await this.#workspaces.isCreating(workspacePath)) this.#isCreating.add(id);
    };
    await Promise.all(unwanted.map(check));
  }
}
