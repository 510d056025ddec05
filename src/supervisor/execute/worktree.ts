/** Actions on a session's worktree: create, restore, move to the trash. */
import { reach } from "../../base/test-points.ts";
import type { FactEvent } from "../../contract/event.ts";
import { HoldfastError, messageOf } from "../../contract/errors.ts";
import type { TrashId, SessionId } from "../../contract/ids.ts";
import type { SessionState } from "../../model/session.ts";
import type { Services } from "../services.ts";
import { planFor, repositoryOf } from "../worktrees.ts";
import { record } from "../record.ts";

/** Short enough for a user who watches, long enough for a command that never stops printing. */
const showEveryMs = 500;
/** Enough for every ordinary build; of a longer output the end is kept. */
const maxShown = 256_000;
const maxLast = 16_000;

class ShownOutput {
  readonly #services: Pick<Services, "store" | "log">;
  readonly #session: SessionId;
  #waiting = "";
  #shown = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(services: Pick<Services, "store" | "log">, session: SessionId) {
    this.#services = services;
    this.#session = session;
  }

  add(text: string): void {
    this.#waiting += text;
    if (this.#shown + this.#waiting.length > maxShown) this.#waiting = this.#waiting.slice(-maxLast);
    else this.#timer ??= setTimeout(() => void this.#show(), showEveryMs);
  }

  /** Output not recorded yet, for the next commit. */
  rest(): FactEvent[] {
    clearTimeout(this.#timer);
    const text = this.#waiting;
    this.#waiting = "";
    return text === "" ? [] : [{ type: "workspace.output", text }];
  }

  async #show(): Promise<void> {
    this.#timer = undefined;
    this.#shown += this.#waiting.length;
    const events = this.rest();
    try {
      await this.#services.store.commit(this.#session, () => events);
    } catch (error) {
      // The worktree is created all the same.
      this.#services.log.warn("could not record output", { session: this.#session, error: messageOf(error) });
    }
  }
}

type Needs = Pick<Services, "store" | "workspaces" | "agents" | "settings" | "log">;

/** A checkout keeps disk and processor busy: the starting agent goes first. */
const spareDelayMs = 500;
/** As many as a user reads; the trash's own list has all of them. */
const namedCommits = 10;

export async function createWorkspace(services: Needs, session: SessionState): Promise<"done"> {
  const plan = await planFor(services, session);
  const output = new ShownOutput(services, session.id);
  using ended = untilNotRunning(services, session);
  try {
    const ready = await services.workspaces.create(plan, (text) => output.add(text), ended.signal);
    await reach("workspace.created", session.id);
    await services.workspaces.exclude(ready.path, services.agents.of(session)?.terminal?.exclude ?? []);
    prepareSpare(services, session);
    return await record(services, session, [...output.rest(), { type: "workspace.ready", ...ready }]);
  } catch (error) {
    // The new intent decides what happens to the partial worktree.
    if (ended.signal.aborted) return await record(services, session, output.rest());
    // All or nothing: the partial worktree is removed. The session stays failed until the user retries.
    services.log.warn("could not create a worktree", { session: session.id, error });
    await services.workspaces.undo(plan);
    return record(services, session, [...output.rest(), { type: "workspace.failed", reason: messageOf(error) }]);
  }
}

/** Aborts when the session should no longer run: its commands may take minutes. */
function untilNotRunning(
  { store }: Pick<Services, "store">,
  { id }: SessionState,
): { signal: AbortSignal } & Disposable {
  const ended = new AbortController();
  const stop = store.onCommit(() => {
    if (store.session(id)?.intent.want !== "running") ended.abort();
  });
  return { signal: ended.signal, [Symbol.dispose]: stop };
}

/** In the background, for the next spawn; if it fails, that spawn creates its own worktree. */
function prepareSpare(services: Needs, session: SessionState): void {
  const { project } = session;
  const prepare = async (): Promise<void> => {
    const { path, defaultBranch, spareWorktrees } = await services.settings.forSession(project);
    if (spareWorktrees !== 0) await services.workspaces.prepareSpare(path, defaultBranch, spareWorktrees === 1);
  };
  const begin = (): void =>
    void prepare().catch((error: unknown) =>
      services.log.warn("could not create a spare worktree", { project, error }),
    );
  setTimeout(begin, spareDelayMs).unref();
}

export async function restoreWorkspace(
  services: Pick<Services, "store" | "workspaces">,
  session: SessionState,
): Promise<"done"> {
  const trash = session.workspace.at === "trashed" ? session.workspace.trash : await newestInTrash(services, session);
  if (trash === null) return "done";
  try {
    const { path, branch, notes } = await services.workspaces.restore(trash);
    return await record(services, session, [
      { type: "workspace.restored", trash, path, branch },
      ...notes.map((text): FactEvent => ({ type: "notice", level: "info", text })),
    ]);
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== "not-found") throw error;
    // Already restored, but the record of it was lost.
    const { workspacePath: path } = session;
    if (services.workspaces.exists(path) === true) {
      return record(services, session, [{ type: "workspace.restored", trash, path, branch: null }]);
    }
    return record(services, session, [{ type: "workspace.gone", reason: error.message }]);
  }
}

async function newestInTrash(services: Pick<Services, "workspaces">, session: SessionState): Promise<TrashId | null> {
  const entries = (await services.workspaces.listTrash()).filter((entry) => entry.session === session.id);
  return entries.toSorted((a, b) => a.trashedAt - b.trashedAt).at(-1)?.id ?? null;
}

export async function removeWorkspace(services: Needs, session: SessionState): Promise<"done"> {
  if (session.workspace.at === "planned") {
    await services.workspaces.undo(await planFor(services, session));
    const reason = "ended before the worktree was created";
    return record(services, session, [{ type: "workspace.gone", reason, neverMade: true }]);
  }
  const { id, workspacePath: path, branch } = session;
  const repository = await repositoryOf(services, session);
  const { seq, at } = session.intent;
  const entry = await services.workspaces.trash({ session: id, repository, path, branch, intent: { seq, at } });
  await reach("workspace.trashed", session.id);
  return record(services, session, [
    entry === null
      ? { type: "workspace.gone", reason: `there was nothing at ${path}` }
      : {
          type: "workspace.trashed",
          trash: entry.id,
          branch: entry.branch,
          ref: entry.ref,
          uncommitted: entry.uncommitted,
          unpushed: entry.unpushed.length,
          ...(entry.unpushed.length === 0 ? {} : { commits: entry.unpushed.slice(0, namedCommits) }),
          ...(entry.note === undefined ? {} : { note: entry.note }),
        },
  ]);
}
