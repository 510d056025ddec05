/** Queries a code host about sessions, and records what differs, what belongs to a session, and what disappeared. */
import { differs, isTaken } from "../../model/pull-requests.ts";
import type { FactEvent } from "../../contract/event.ts";
import type { SessionState } from "../../model/session.ts";
import type { IssueFacts, PullRequestFacts, SeenPullRequest } from "../../contract/tracker.ts";
import type { Services } from "../../supervisor/services.ts";
import type { ProjectSettings } from "../../ports/projects.ts";
import type { TrackerResult, CodeHost, PullRequestLookup, Tracker } from "../../ports/tracker.ts";

/** A host may omit a pull request once by mistake. */
const missesUntilLost = 2;
/** A limit on what a faulty tracker can record. */
const maxPullRequests = 20;

export class TrackerRecord {
  readonly #services: Pick<Services, "store" | "workspaces">;
  readonly #isClosed: () => boolean;
  readonly #misses = new Map<string, number>();
  /** When a pull request was last touched, by address: its threads may have changed since. */
  readonly touched = new Map<string, number>();

  constructor(services: Pick<Services, "store" | "workspaces">, isClosed: () => boolean) {
    this.#services = services;
    this.#isClosed = isClosed;
  }

  /** @param at the session's current branch, and the tracker's repository. */
  async pullRequests(session: SessionState, at: BranchRef, answer: PullRequestFacts[]): Promise<void> {
    const own: PullRequestFacts[] = [];
    for (const facts of answer.slice(0, maxPullRequests)) {
      if (isSane(facts) && (await this.#isOwn(session, at, facts))) own.push(facts);
    }
    if (this.#isClosed()) return;
    for (const { url, updatedAt } of own) this.touched.set(url, updatedAt);
    await this.#services.store.commit(session.id, (state) => {
      const before = new Map(own.map((facts) => [facts, onRecord(state, at.repo, facts)]));
      return [
        ...own
          .filter((facts) => differs(before.get(facts), facts))
          .map((facts): FactEvent => {
            const was = before.get(facts)?.facts.url ?? facts.url;
            return { type: "pull-request.seen", pullRequest: facts, ...(was === facts.url ? {} : { was }) };
          }),
        ...this.#missing(state, new Set(before.values())),
      ];
    });
  }

  /** Pull requests that were queried by number but not returned. Merged ones are no longer queried and stay. */
  #missing(state: SessionState, shown: ReadonlySet<SeenPullRequest | undefined>): FactEvent[] {
    return (state.pullRequests ?? []).flatMap((one): FactEvent[] => {
      const { facts, lost } = one;
      if (lost !== null || facts.state === "merged") return [];
      const key = `${state.id} ${facts.url}`;
      if (shown.has(one)) {
        this.#misses.delete(key);
        return [];
      }
      const misses = (this.#misses.get(key) ?? 0) + 1;
      this.#misses.set(key, misses);
      if (misses < missesUntilLost) return [];
      this.#misses.delete(key);
      return [{ type: "pull-request.lost", url: facts.url, reason: "its host no longer shows it" }];
    });
  }

  /** Anyone can use a branch name; commits prove ownership. */
  async #isOwn(session: SessionState, { branch, repo }: BranchRef, facts: PullRequestFacts): Promise<boolean> {
    const known = onRecord(session, repo, facts);
    if (known !== undefined) return !isTaken(known);
    if (this.#isClaimedElsewhere(session, facts.url) || facts.headBranch !== branch) return false;
    if (facts.state === "open" && facts.headRepo === facts.repo) return true;
    return await this.#services.workspaces.isOwnCommit(session.workspacePath, facts.headSha, session.base);
  }

  #isClaimedElsewhere(session: SessionState, url: string): boolean {
    return this.#services.store
      .sessions()
      .some(
        (other) =>
          other.id !== session.id &&
          (other.pullRequests ?? []).some((one) => one.claimed && one.lost === null && one.facts.url === url),
      );
  }

  async issue(session: SessionState, facts: IssueFacts): Promise<void> {
    if (this.#isClosed()) return;
    const { body: _, ...issue } = facts;
    await this.#services.store.commit(session.id, ({ issueSeen }) => {
      const before = issueSeen === undefined ? null : [issueSeen.key, issueSeen.url, issueSeen.title, issueSeen.state];
      const same = JSON.stringify(before) === JSON.stringify([issue.key, issue.url, issue.title, issue.state]);
      return same ? [] : [{ type: "issue.seen", issue }];
    });
  }
}

export interface BranchRef {
  branch: string;
  repo: string;
}

/** By address; within the tracker's repository also by number, because a renamed repository has new addresses. */
function onRecord({ pullRequests = [] }: SessionState, repo: string, facts: PullRequestFacts) {
  const byAddress = pullRequests.find((one) => one.facts.url === facts.url);
  return byAddress ?? pullRequests.find((one) => !isElsewhere(one, repo) && one.facts.number === facts.number);
}

/** Claimed from another repository than the tracker's: its number means nothing here. */
export function isElsewhere({ claimed, facts }: SeenPullRequest, repo: string): boolean {
  return claimed && facts.repo.toLowerCase() !== repo.toLowerCase();
}

/** Keeps values that cannot be shown or compared from being recorded. */
function isSane(facts: PullRequestFacts): boolean {
  return (
    Number.isSafeInteger(facts.number) &&
    facts.number > 0 &&
    /^https?:\/\//.test(facts.url) &&
    facts.url.length < 2048 &&
    typeof facts.headSha === "string" &&
    Array.isArray(facts.checks)
  );
}

/** @param branch the session's current branch. */
export function lookupOf(
  session: SessionState,
  branch: string,
  settings: ProjectSettings,
  fresh: boolean,
): PullRequestLookup[] {
  const open = openOf(session);
  const repo = settings.codeHost?.repo ?? "";
  const numbers = open.filter((one) => !isElsewhere(one, repo)).map(({ facts }) => facts.number);
  // Pull requests from the default branch belong to others.
  if (branch === settings.defaultBranch && open.length === 0) return [];
  return [{ key: session.id, branch, numbers, ...(fresh ? { fresh } : {}) }];
}

/** One query for the repository; pull requests claimed from other repositories are rare, and queried by address. */
export async function askAll(
  tracker: Tracker,
  host: CodeHost,
  members: readonly { session: SessionState }[],
  lookups: readonly PullRequestLookup[],
): Promise<Map<string, TrackerResult<PullRequestFacts[]>>> {
  const results = await host.pullRequests(lookups);
  for (const { session } of members) {
    const answer = results.get(session.id);
    if (answer?.is !== "known") continue;
    const value = [...answer.value];
    for (const { facts } of openOf(session).filter((one) => isElsewhere(one, tracker.settings.repo))) {
      const one = await host.pullRequest(facts.url);
      // Unknown means unchanged.
      if (one.is !== "absent") value.push(one.is === "known" ? one.value : facts);
    }
    results.set(session.id, { is: "known", value });
  }
  return results;
}

/**
 * The repository's new name, if it differs from the settings. Redirects keep the old name working until someone else
 * takes it.
 */
export function renamedTo(polled: readonly SessionState[], repo: string): string | null {
  // Closed ones are no longer queried, so their name may be outdated.
  const found = polled
    .flatMap((session) => openOf(session))
    .find(
      ({ claimed, lost, facts }) =>
        !claimed && lost === null && facts.state === "open" && facts.repo.toLowerCase() !== repo.toLowerCase(),
    );
  return found?.facts.repo ?? null;
}

/** Pull requests that may still change. */
function openOf({ pullRequests = [] }: SessionState): SeenPullRequest[] {
  return pullRequests.filter((one) => one.facts.state !== "merged" && !isTaken(one));
}
