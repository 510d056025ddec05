/** `session cleanup`: polls the trackers, kills completed sessions, and lists work that exists only in their worktrees. */
import { policyActors } from "../model/lifecycle.ts";
import { checkMerge, planCleanup, workLeft, type MergeCheck } from "../model/cleanup.ts";
import { bounded } from "../base/async.ts";
import type { ApiRequest } from "../ports/api.ts";
import type { CleanupLine } from "../contract/session.ts";
import { messageOf } from "../contract/errors.ts";
import { asSessionId } from "../contract/ids.ts";
import { primaryPullRequest } from "../model/pull-requests.ts";
import type { SessionState } from "../model/session.ts";
import { commitPolicyVerb } from "../supervisor/apply-verb.ts";
import { runtimeFacts } from "../supervisor/observe.ts";
import type { Loop } from "../supervisor/loop.ts";
import type { Services } from "../supervisor/services.ts";
import type { LazyTracking } from "../integrations/trackers/lazy-tracking.ts";
import { runVerb, type VerbServices } from "./run-verb.ts";
import { currentStatus } from "../supervisor/view.ts";

/** The user waits; without a response by then, the recorded state decides. */
const pollDeadlineMs = 15_000;

export async function cleanup(
  services: CleanupServices,
  loop: Loop,
  tracking: LazyTracking,
  request: ApiRequest<"cleanup">,
): Promise<CleanupLine[]> {
  const { project, dryRun = false, dead = false } = request.input;
  const began = services.clock.now();
  await pollNow(services, tracking);
  const sessions = services.store.sessions().filter((session) => project === undefined || session.project === project);
  const lines: CleanupLine[] = [];
  for (const line of await judge(services, loop, sessions, { dead, began })) {
    if (line.outcome !== "would-kill") {
      lines.push(line);
      continue;
    }
    try {
      lines.push(
        dryRun
          ? { ...line, ...(await left(services, line)) }
          : await cleanOne(services, loop, request, line, { dead, began }),
      );
    } catch (error) {
      lines.push({ session: line.session, outcome: "error", why: messageOf(error) });
    }
  }
  return lines;
}

async function pollNow(services: CleanupServices, tracking: LazyTracking): Promise<void> {
  const tracked = services.store
    .projects()
    .some(({ id }) => (services.settings.last(id)?.tracker ?? services.settings.last(id)?.codeHost ?? null) !== null);
  if (!tracked) return;
  await bounded(tracking.refresh(), pollDeadlineMs).catch((error: unknown) =>
    services.log.warn("cleanup could not poll the trackers", { error: messageOf(error) }),
  );
}

/** What a cleanup works with. */
export type CleanupServices = VerbServices & Pick<Services, "log" | "issuePolledAt">;

interface Judging {
  dead: boolean;
  /** Only facts polled since then count. */
  began: number;
}

async function judge(
  services: CleanupServices,
  loop: Loop,
  sessions: readonly SessionState[],
  { dead, began }: Judging,
): Promise<CleanupLine[]> {
  const candidates = await Promise.all(
    sessions.map(async (session) => {
      const polledAt = services.issuePolledAt(session.id);
      // An issue may have been reopened since the last poll; a merge is permanent.
      const fresh = polledAt !== null && polledAt >= began;
      return {
        session,
        status: currentStatus(services, loop, session).status,
        runtime: runtimeFacts(loop.observation(session)),
        issueClosed: fresh && session.issueSeen !== undefined ? session.issueSeen.state === "closed" : null,
        pullRequestPolled: (services.polledAt(session.id) ?? 0) >= began,
        landed: await mergedElsewhere(services, session),
      };
    }),
  );
  return planCleanup(candidates, { dead });
}

/** Whether the work of a pull request that was closed without a merge is in its base all the same. */
async function mergedElsewhere(services: CleanupServices, session: SessionState): Promise<boolean> {
  const primary = primaryPullRequest(session.pullRequests);
  if (primary?.facts.state !== "closed" || session.workspace.at !== "ready") return false;
  // A branch that was reset to its base counts as landed, but contains nothing of the closed pull request.
  const { headSha } = primary.facts;
  const holds = await services.workspaces.isOwnCommit(session.workspacePath, headSha, session.base).catch(() => false);
  return holds && (await landing(services, session))?.landed === true;
}

/** Checks once more right before the kill: the user may have restored the session meanwhile. */
async function cleanOne(
  services: CleanupServices,
  loop: Loop,
  request: ApiRequest<"cleanup">,
  line: CleanupLine,
  judging: Judging,
): Promise<CleanupLine> {
  const session = services.store.session(asSessionId(line.session));
  const [now] = session === null ? [] : await judge(services, loop, [session], judging);
  if (session === null || now === undefined) {
    return { session: line.session, outcome: "skipped", why: "it no longer exists" };
  }
  if (now.outcome !== "would-kill") return now;
  const { notes = [] } = await left(services, line);
  // Recorded only if the session is unchanged since it was judged; then a kill like any other.
  const ended = await commitPolicyVerb(services, session, { verb: "cleanup", judged: session }, policyActors.cleanup);
  if (ended.intent.want !== "killed")
    return { session: line.session, outcome: "skipped", why: "something was asked of it meanwhile" };
  const kill = { ...request, params: { id: line.session }, input: {}, actor: policyActors.cleanup };
  const killed = await runVerb(services, loop, { verb: "kill" }, kill);
  if (!killed.done) return { session: line.session, outcome: "error", why: killed.notes.join(" ") };
  // Only for work that was not merged.
  const kept = notes.length === 0 ? [] : [...notes, ...whereTo(services, line.session)];
  return { session: line.session, outcome: "cleaned", why: line.why, ...(kept.length === 0 ? {} : { notes: kept }) };
}

function whereTo(services: CleanupServices, id: string): string[] {
  const workspace = services.store.session(asSessionId(id))?.workspace;
  if (workspace?.at !== "trashed") return [];
  return [`Kept in the trash as ${workspace.trash}. Get it back: holdfast session restore ${id}`];
}

async function left(services: CleanupServices, line: CleanupLine): Promise<{ notes?: string[] }> {
  const session = services.store.session(asSessionId(line.session));
  if (session === null || session.workspace.at !== "ready") return {};
  try {
    const { uncommitted, unpushed } = await services.workspaces.inspect(session.workspacePath);
    // Without a comparison, all unpushed commits are listed.
    const compared = await landing(services, session);
    const notes = workLeft({
      uncommitted,
      landing: compared ?? (unpushed.length === 0 ? null : { landed: false, commits: unpushed }),
    });
    return notes.length === 0 ? {} : { notes };
  } catch (error) {
    // The work is kept in any case; only its list is missing.
    return { notes: [`Could not list its work: ${messageOf(error)}`] };
  }
}

async function landing(services: CleanupServices, session: SessionState): Promise<MergeCheck | null> {
  if (session.workspace.at !== "ready") return null;
  const over = (session.pullRequests ?? []).filter(({ lost }) => lost === null).map(({ facts }) => facts);
  const merged = over.filter(({ state }) => state === "merged");
  try {
    const { defaultBranch } = await services.settings.forSession(session.project);
    const facts = await services.workspaces.mergeFacts({
      path: session.workspacePath,
      defaultBranch: over.at(-1)?.baseBranch ?? defaultBranch,
      heads: merged.map(({ headSha }) => headSha),
      mergeCommit: merged.at(-1)?.mergeCommit ?? null,
    });
    return checkMerge(facts);
  } catch (error) {
    services.log.warn("could not compare a branch with its base", { session: session.id, error: messageOf(error) });
    return null;
  }
}
