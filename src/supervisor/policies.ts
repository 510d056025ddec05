/** Policies on a slow timer: stop idle sessions if configured, empty old trash, purge deleted sessions. */
import { reach } from "../base/test-points.ts";
import { policyActors } from "../model/lifecycle.ts";
import { isCleared } from "../model/runs.ts";
import { messageOf } from "../contract/errors.ts";
import type { ProjectId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import { Coordinator } from "./coordinator.ts";
import { commitPolicyVerb } from "./apply-verb.ts";
import { emptyEntry, expiredTrash } from "./worktrees.ts";
import type { Loop } from "./loop.ts";
import type { Services } from "./services.ts";
import { currentStatus } from "./view.ts";

type Needs = Pick<
  Services,
  "store" | "runtimes" | "workspaces" | "contain" | "settings" | "clock" | "log" | "restore" | "polledAt"
>;

/** Also the interval of the policies. Tests shorten it. */
const minuteMs = Number(process.env["HOLDFAST_TEST_MINUTE_MS"] ?? 60_000);

export function startPolicies(services: Needs, loop: Loop): () => void {
  const rounds = new Coordinator<null>({
    run: () => run(services, loop),
    onError: (_, error) => services.log.warn("policy failed", { error: messageOf(error) }),
  });
  // Emptying much trash takes longer than a minute: a second run would empty the same entries at the same time.
  const timer = setInterval(() => void (rounds.isRunning(null) || rounds.wake(null)), minuteMs).unref();
  return () => clearInterval(timer);
}

/** Independent of each other: a problem with one project or entry does not block the others. */
async function run(services: Needs, loop: Loop): Promise<void> {
  const old = await expiredTrash(services, await services.workspaces.listTrash());
  const work = [
    ...services.store.projects().map((row) => () => stopIdle(services, loop, row.id)),
    ...old.map((entry) => () => emptyEntry(services, entry, `kept ${services.workspaces.trashDays} days in the trash`)),
    () => purgeDeleted(services),
    () => endQuietTurns(services, loop),
    ...running(services).map((session) => () => services.contain.takeOver(session)),
  ];
  for (const one of work) {
    await one().catch((error: unknown) => services.log.warn("policy failed", { error: messageOf(error) }));
  }
  await reach("policies.ran");
}

/** Contained sessions whose commits may go unnoticed: not every agent reports that it is idle. */
function running({ store }: Pick<Services, "store">): SessionState[] {
  return store.sessions().filter(({ contain, run: { run: is } }) => contain?.mode === "worktree" && is === "up");
}

/** The id stays used forever; the events of a deleted session are removed once everything else of it is gone. */
async function purgeDeleted(services: Needs): Promise<void> {
  for (const session of services.store.deleting()) {
    if (!isCleared(session)) continue;
    // After a conversion and a crash there may be files of either kind.
    services.runtimes.chat.forget(session);
    services.runtimes.terminal.clear(session);
    if (session.contain !== undefined) await services.contain.remove(session.id);
    await services.store.purgeDeleted(session.id);
  }
}

/**
 * A turn that the agent started itself ends by silence. The daemon that read its last output may be gone, or may have found
 * an open permission request when the time was up: then only this ends the turn.
 */
async function endQuietTurns(services: Pick<Services, "store" | "clock">, loop: Loop): Promise<void> {
  const before = services.clock.now() - minuteMs;
  const isQuiet = ({ turn, permissions, lastActivityAt }: SessionState): boolean =>
    turn.turn === "open" && turn.prompt === null && permissions.length === 0 && lastActivityAt <= before;
  for (const { id } of services.store.sessions().filter(isQuiet)) {
    await services.store.commit(id, (state) =>
      isQuiet(state) ? [{ type: "turn.ended", stopReason: "quiet", promptId: null }] : [],
    );
    loop.wake(id);
  }
}

async function stopIdle(services: Needs, loop: Loop, project: ProjectId): Promise<void> {
  const { idleStopMinutes } = await services.settings.forSession(project);
  if (idleStopMinutes <= 0) return;
  const before = services.clock.now() - idleStopMinutes * minuteMs;
  for (const session of services.store.sessions()) {
    if (session.project !== project || session.role !== "worker" || session.lastActivityAt > before) continue;
    if (currentStatus(services, loop, session).status !== "idle") continue;
    await commitPolicyVerb(services, session, { verb: "idle-stop", quietSince: before }, policyActors.idleStop);
    loop.wake(session.id);
  }
}
