/** What happens by the clock, on a slow timer: idle sessions are stopped where the person set that, and old trash is emptied. */
import { reach } from "../base/test-points.ts";
import { policyActors } from "../model/lifecycle.ts";
import { isCleared } from "../model/runs.ts";
import { messageOf } from "../contract/errors.ts";
import type { ProjectId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import { commitPolicyVerb } from "./apply-verb.ts";
import { emptyEntry, expiredTrash } from "./worktrees.ts";
import type { Loop } from "./loop.ts";
import type { Services } from "./services.ts";
import { currentStatus } from "./view.ts";

type Needs = Pick<
  Services,
  "store" | "runtimes" | "workspaces" | "contain" | "settings" | "clock" | "log" | "restore" | "polledAt"
>;

/** Also how often policies are looked at. A test of an idle minute does not wait that long. */
const minuteMs = Number(process.env["HOLDFAST_TEST_MINUTE_MS"] ?? 60_000);

export function startPolicies(services: Needs, loop: Loop): () => void {
  let running = false;
  const timer = setInterval(() => {
    // Emptying much trash takes longer than a minute: a second look would empty the same entries at the same time.
    if (running) return;
    running = true;
    run(services, loop)
      .catch((error: unknown) => services.log.warn("a policy failed", { error: messageOf(error) }))
      .finally(() => (running = false));
  }, minuteMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** Each for itself: what is wrong with one project or one entry keeps none of the others waiting. */
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
    await one().catch((error: unknown) => services.log.warn("a policy failed", { error: messageOf(error) }));
  }
  await reach("policies.ran");
}

/** Contained sessions that may commit without anybody noticing when: not every agent says that it rests. */
function running({ store }: Pick<Services, "store">): SessionState[] {
  return store.sessions().filter(({ contain, run: { run: is } }) => contain?.mode === "worktree" && is === "up");
}

/** The id stays used for ever; what a deleted session said goes once everything of it is cleared away. */
async function purgeDeleted(services: Needs): Promise<void> {
  for (const session of services.store.deleting()) {
    if (!isCleared(session)) continue;
    // It may have been converted, and a crash may have left files of either kind.
    services.runtimes.chat.forget(session);
    services.runtimes.terminal.clear(session);
    if (session.contain !== undefined) await services.contain.remove(session.id);
    await services.store.purgeDeleted(session.id);
  }
}

/**
 * A turn that an agent began itself ends by silence. The daemon that heard its last word may be gone, or may have found a
 * question open when its own time was up: then nobody else ends it.
 */
async function endQuietTurns(services: Pick<Services, "store" | "clock">, loop: Loop): Promise<void> {
  const before = services.clock.now() - minuteMs;
  const isQuiet = ({ turn, permissions, lastActivityAt }: SessionState): boolean =>
    turn.turn === "open" && turn.prompt === null && permissions.length === 0 && lastActivityAt <= before;
  for (const { id } of services.store.sessions().filter(isQuiet)) {
    await services.store.change(id, (state) =>
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
