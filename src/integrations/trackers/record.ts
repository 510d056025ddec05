/** Puts what trackers say of a session on record: what is different, what is its own, and what is gone. */
import { differs } from "../../model/pull-requests.ts";
import type { FactEvent } from "../../contract/event.ts";
import type { SessionState } from "../../model/session.ts";
import type { IssueFacts, PullRequestFacts, SeenPullRequest } from "../../contract/tracker.ts";
import type { Services } from "../../supervisor/services.ts";
import type { ProjectSettings } from "../../ports/projects.ts";
import type { Asked, CodeHost, PullRequestQuestion, Tracker } from "../../ports/tracker.ts";

/** A host may leave something out by mistake once. */
const missesUntilLost = 2;
/** What a lying tracker may put on record at most. */
const maxPullRequests = 20;

export class TrackerRecord {
  readonly #parts: Pick<Services, "store" | "workspaces">;
  readonly #isClosed: () => boolean;
  readonly #misses = new Map<string, number>();
  /** When a pull request was last touched, by address: whether its threads may be others now. */
  readonly touched = new Map<string, number>();

  constructor(parts: Pick<Services, "store" | "workspaces">, isClosed: () => boolean) {
    this.#parts = parts;
    this.#isClosed = isClosed;
  }

  /** @param at the branch that the session is on now, and the tracker's repository. */
  async pullRequests(session: SessionState, at: Place, answer: PullRequestFacts[]): Promise<void> {
    const own: PullRequestFacts[] = [];
    for (const facts of answer.slice(0, maxPullRequests)) {
      if (isSane(facts) && (await this.#isOwn(session, at, facts))) own.push(facts);
    }
    if (this.#isClosed()) return;
    for (const { url, updatedAt } of own) this.touched.set(url, updatedAt);
    await this.#parts.store.change(session.id, (state) => {
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

  /** Asked for by number and not shown. A merged one is not asked for any more and stays. */
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
      return [{ type: "pull-request.lost", url: facts.url, reason: "its host does not show it any more" }];
    });
  }

  /** A branch's name is anybody's; commits are not. */
  async #isOwn(session: SessionState, { branch, repo }: Place, facts: PullRequestFacts): Promise<boolean> {
    const known = onRecord(session, repo, facts);
    if (known !== undefined) return !isTaken(known.lost);
    if (this.#isClaimedElsewhere(session, facts.url) || facts.headBranch !== branch) return false;
    if (facts.state === "open" && facts.headRepo === facts.repo) return true;
    return await this.#parts.workspaces.isOwnCommit(session.workspacePath, facts.headSha, session.base);
  }

  #isClaimedElsewhere(session: SessionState, url: string): boolean {
    return this.#parts.store
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
    await this.#parts.store.change(session.id, ({ issueSeen }) => {
      const before = issueSeen === undefined ? null : [issueSeen.key, issueSeen.url, issueSeen.title, issueSeen.state];
      const same = JSON.stringify(before) === JSON.stringify([issue.key, issue.url, issue.title, issue.state]);
      return same ? [] : [{ type: "issue.seen", issue }];
    });
  }
}

export interface Place {
  branch: string;
  repo: string;
}

/** By its address; by its number too where that is the tracker's own row, because a renamed repository has new addresses. */
function onRecord({ pullRequests = [] }: SessionState, repo: string, facts: PullRequestFacts) {
  const byAddress = pullRequests.find((one) => one.facts.url === facts.url);
  return byAddress ?? pullRequests.find((one) => !isElsewhere(one, repo) && one.facts.number === facts.number);
}

/** Claimed from another repository than the tracker's: its number means nothing here. */
export function isElsewhere({ claimed, facts }: SeenPullRequest, repo: string): boolean {
  return claimed && facts.repo.toLowerCase() !== repo.toLowerCase();
}

/** Written when another session claimed it; what else is lost may come back. */
export const takenReason = "claimed by ";

export function isTaken(lost: string | null): boolean {
  return lost?.startsWith(takenReason) ?? false;
}

/** The adapters translate; this only keeps what could not be shown or compared from going on record. */
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

/** @param branch the one that the session is on now. */
export function questionOf(
  session: SessionState,
  branch: string,
  settings: ProjectSettings,
  fresh: boolean,
): PullRequestQuestion[] {
  const open = openOf(session);
  const repo = settings.codeHost?.repo ?? "";
  const numbers = open.filter((one) => !isElsewhere(one, repo)).map(({ facts }) => facts.number);
  // Whatever comes from a default branch is somebody else's.
  if (branch === settings.defaultBranch && open.length === 0) return [];
  return [{ key: session.id, branch, numbers, ...(fresh ? { fresh } : {}) }];
}

/** One question for all of the repository's; what was claimed from elsewhere is rare, and asked for by its address. */
export async function askAll(
  tracker: Tracker,
  host: CodeHost,
  members: readonly { session: SessionState }[],
  questions: readonly PullRequestQuestion[],
): Promise<Map<string, Asked<PullRequestFacts[]>>> {
  const answers = await host.pullRequests(questions);
  for (const { session } of members) {
    const answer = answers.get(session.id);
    if (answer?.is !== "known") continue;
    const value = [...answer.value];
    for (const { facts } of openOf(session).filter((one) => isElsewhere(one, tracker.settings.repo))) {
      const one = await host.pullRequest(facts.url);
      // What was not said is as it was.
      if (one.is !== "absent") value.push(one.is === "known" ? one.value : facts);
    }
    answers.set(session.id, { is: "known", value });
  }
  return answers;
}

/**
 * What a repository is called now, where that is another name than the settings have; it is followed there at the price of a
 * redirect each time, until somebody else takes the old name.
 */
export function renamedTo(heard: readonly SessionState[], repo: string): string | null {
  // What is not open is not asked for any more, so that its name may be an old one.
  const found = heard
    .flatMap((session) => openOf(session))
    .find(
      ({ claimed, lost, facts }) =>
        !claimed && lost === null && facts.state === "open" && facts.repo.toLowerCase() !== repo.toLowerCase(),
    );
  return found?.facts.repo ?? null;
}

/** What may still change. */
function openOf({ pullRequests = [] }: SessionState): SeenPullRequest[] {
  return pullRequests.filter(({ facts, lost }) => facts.state !== "merged" && !isTaken(lost));
}
