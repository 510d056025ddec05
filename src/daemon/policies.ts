/** Policies that the person set, on a slow timer: idle sessions are stopped, and old trash is emptied. */
import { messageOf } from "../protocol/error.ts";
import type { Loop } from "./loop.ts";
import type { Parts } from "./parts.ts";
import { currentStatus } from "./view.ts";

const everyMs = 60_000;
/** Kept this long, then removed for good. */
const trashDays = 14;

export function startPolicies(parts: Parts, loop: Loop): () => void {
  const timer = setInterval(() => {
    run(parts, loop).catch((error: unknown) => parts.log.warn("a policy failed", { error: messageOf(error) }));
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

async function run(parts: Parts, loop: Loop): Promise<void> {
  await stopIdle(parts, loop);
  await emptyOldTrash(parts);
  await purgeDeleted(parts);
}

/** The id stays used for ever; what a deleted session said goes once everything of it is cleared away. */
async function purgeDeleted(parts: Parts): Promise<void> {
  for (const { id, run, workspace } of parts.store.deleting()) {
    const cleared = run.run !== "up" && run.run !== "launching" && workspace.at !== "ready" && workspace.at !== "planned";
    if (cleared) await parts.store.purgeDeleted(id);
  }
}

async function stopIdle(parts: Parts, loop: Loop): Promise<void> {
  for (const row of parts.store.projects()) {
    const { idleStopMinutes } = await parts.projects.settings(row);
    if (idleStopMinutes <= 0) continue;
    const before = parts.clock.now() - idleStopMinutes * 60_000;
    for (const session of parts.store.sessions()) {
      if (session.project !== row.id || session.role !== "worker" || session.lastActivityAt > before) continue;
      if (currentStatus(parts, loop.observation(session), session).status !== "idle") continue;
      await parts.store.change(session.id, (state) =>
        state.intent.want === "running" && state.lastActivityAt <= before
          ? [{ type: "session.intent", want: { want: "stopped" }, by: "idle-stop" }]
          : [],
      );
      loop.wake(session.id);
    }
  }
}

async function emptyOldTrash(parts: Parts): Promise<void> {
  const before = parts.clock.now() - trashDays * 24 * 3_600_000;
  for (const entry of await parts.workspaces.listTrash()) {
    if (entry.trashedAt >= before) continue;
    await parts.workspaces.empty(entry.id);
    const owner = parts.store.session(entry.session);
    if (owner?.workspace.at === "trashed" && owner.workspace.trash === entry.id) {
      await parts.store.change(owner.id, () => [{ type: "workspace.gone", reason: `kept ${trashDays} days in the trash` }]);
    }
  }
}
