/** `session cleanup`: asks the trackers, judges, ends what is completed, and names work that only a worktree holds. */
import { planCleanup } from "../model/cleanup.ts";
import { policyActors } from "../model/lifecycle.ts";
import { judgeLanding, workLeft, type Landing } from "../model/cleanup.ts";
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
import { runVerb } from "./run-verb.ts";
import { currentStatus } from "../supervisor/view.ts";

/** A person waits; what is on record is judged without an answer that takes longer. */
const askDeadlineMs = 15_000;

export async function cleanup(
  parts: Services,
  loop: Loop,
  door: LazyTracking,
  ask: ApiRequest<"cleanup">,
): Promise<CleanupLine[]> {
  const { project, dryRun = false, dead = false } = ask.input;
  const began = parts.clock.now();
  await pollNow(parts, door);
  const sessions = parts.store.sessions().filter((session) => project === undefined || session.project === project);
  const lines: CleanupLine[] = [];
  for (const line of await judge(parts, loop, sessions, { dead, began })) {
    if (line.outcome !== "would-kill") {
      lines.push(line);
      continue;
    }
    try {
      lines.push(
        dryRun ? { ...line, ...(await left(parts, line)) } : await cleanOne(parts, loop, ask, line, { dead, began }),
      );
    } catch (error) {
      lines.push({ session: line.session, outcome: "error", why: messageOf(error) });
    }
  }
  return lines;
}

async function pollNow(parts: Services, door: LazyTracking): Promise<void> {
  const tracked = parts.store
    .projects()
    .some(({ id }) => (parts.settings.last(id)?.tracker ?? parts.settings.last(id)?.codeHost ?? null) !== null);
  if (!tracked) return;
  await bounded(door.refresh(), askDeadlineMs).catch((error: unknown) =>
    parts.log.warn("a cleanup could not ask the trackers", { error: messageOf(error) }),
  );
}

interface Judging {
  dead: boolean;
  /** Only what was heard since then is known. */
  began: number;
}

async function judge(
  parts: Services,
  loop: Loop,
  sessions: readonly SessionState[],
  { dead, began }: Judging,
): Promise<CleanupLine[]> {
  const candidates = await Promise.all(
    sessions.map(async (session) => {
      const polledAt = parts.issuePolledAt(session.id);
      // An issue may have been opened again since it was last heard of; a merge is for ever.
      const fresh = polledAt !== null && polledAt >= began;
      return {
        session,
        status: currentStatus(parts, loop, session).status,
        runtime: runtimeFacts(loop.observation(session)),
        issueClosed: fresh && session.issueSeen !== undefined ? session.issueSeen.state === "closed" : null,
        pullRequestPolled: (parts.polledAt(session.id) ?? 0) >= began,
        landed: await landedElsewhere(parts, session),
      };
    }),
  );
  return planCleanup(candidates, { dead });
}

/** Whether what a pull request that was closed without a merge held is in its base all the same. */
async function landedElsewhere(parts: Services, session: SessionState): Promise<boolean> {
  const primary = primaryPullRequest(session.pullRequests);
  if (primary?.facts.state !== "closed" || session.workspace.at !== "ready") return false;
  // A branch that was set back to its base since then has landed, but nothing of what was closed.
  const { headSha } = primary.facts;
  const holds = await parts.workspaces.isOwnCommit(session.workspacePath, headSha, session.base).catch(() => false);
  return holds && (await landing(parts, session))?.landed === true;
}

/** Judged once more right before it is ended: the person may have brought it back meanwhile. */
async function cleanOne(
  parts: Services,
  loop: Loop,
  ask: ApiRequest<"cleanup">,
  line: CleanupLine,
  judging: Judging,
): Promise<CleanupLine> {
  const session = parts.store.session(asSessionId(line.session));
  if (session === null) return { session: line.session, outcome: "skipped", why: "it is gone" };
  const now = (await judge(parts, loop, [session], judging))[0];
  if (now?.outcome !== "would-kill") return now ?? { session: line.session, outcome: "skipped", why: "it is gone" };
  const { notes = [] } = await left(parts, line);
  // Written only over the session that was judged; then a kill like any other.
  const ended = await commitPolicyVerb(parts, session, { verb: "cleanup", judged: session }, policyActors.cleanup);
  if (ended.intent.want !== "killed")
    return { session: line.session, outcome: "skipped", why: "something was asked of it meanwhile" };
  const killed = await runVerb(
    parts,
    loop,
    { verb: "kill" },
    {
      ...ask,
      params: { id: line.session },
      input: {},
      actor: policyActors.cleanup,
    },
  );
  if (!killed.done) return { session: line.session, outcome: "error", why: killed.notes.join(" ") };
  // Where it went and how to get it back is the kill's own word; commits that were merged need no word.
  const kept = notes.length === 0 ? [] : [...notes, ...whereTo(parts, line.session)];
  return { session: line.session, outcome: "cleaned", why: line.why, ...(kept.length === 0 ? {} : { notes: kept }) };
}

function whereTo(parts: Services, id: string): string[] {
  const workspace = parts.store.session(asSessionId(id))?.workspace;
  if (workspace?.at !== "trashed") return [];
  return [`Kept in the trash as ${workspace.trash}. Get it back: holdfast session restore ${id}`];
}

async function left(parts: Services, line: CleanupLine): Promise<{ notes?: string[] }> {
  const session = parts.store.session(asSessionId(line.session));
  if (session === null || session.workspace.at !== "ready") return {};
  try {
    const { uncommitted, unpushed } = await parts.workspaces.inspect(session.workspacePath);
    // Where the base cannot be compared with, commits that nobody else has are named: better once too often.
    const compared = await landing(parts, session);
    const notes = workLeft({
      uncommitted,
      landing: compared ?? (unpushed.length === 0 ? null : { landed: false, commits: unpushed }),
    });
    return notes.length === 0 ? {} : { notes };
  } catch (error) {
    // It is kept in any case; only the names of it are missing.
    return { notes: [`What it holds could not be told: ${messageOf(error)}`] };
  }
}

async function landing(parts: Services, session: SessionState): Promise<Landing | null> {
  if (session.workspace.at !== "ready") return null;
  const over = (session.pullRequests ?? []).filter(({ lost }) => lost === null).map(({ facts }) => facts);
  const merged = over.filter(({ state }) => state === "merged");
  try {
    const { defaultBranch } = await parts.settings.forSession(session.project);
    const facts = await parts.workspaces.mergeFacts({
      path: session.workspacePath,
      defaultBranch: over.at(-1)?.baseBranch ?? defaultBranch,
      heads: merged.map(({ headSha }) => headSha),
      mergeCommit: merged.at(-1)?.mergeCommit ?? null,
    });
    return judgeLanding(facts);
  } catch (error) {
    parts.log.warn("a branch could not be compared with its base", { session: session.id, error: messageOf(error) });
    return null;
  }
}
