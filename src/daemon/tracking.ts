/**
 * Asks trackers what became of the sessions' pull requests and issues, off the hot path: one question a repository for all
 * of its sessions, each with a deadline. What is different goes on record; what was not said changes nothing.
 */
import { isTracked, pollDelay } from "../core/polling.ts";
import { differs } from "../core/pull-request-status.ts";
import { bounded } from "../base/deadline.ts";
import { reach } from "../base/test-points.ts";
import type { ProjectSettings, ProjectTracker } from "../ports/projects.ts";
import type { Asked, PullRequestQuestion, Tracker, Trackers } from "../ports/tracker.ts";
import { messageOf } from "../protocol/error.ts";
import type { SessionEvent } from "../protocol/event.ts";
import type { ProjectId, SessionId } from "../protocol/ids.ts";
import type { SessionState } from "../protocol/session.ts";
import type { IssueFacts, PullRequestFacts } from "../protocol/tracker.ts";
import type { TrackerJson } from "../protocol/wire.ts";
import { looksLikeIssue } from "../core/issue-reference.ts";
import type { Parts } from "./parts.ts";
import { TrackerHealth } from "./tracker-health.ts";

/** Longer than the adapters' own deadlines for a question in several parts. */
const askDeadlineMs = 45_000;
/** A host may leave something out by mistake once. */
const missesUntilLost = 2;
/** What a lying tracker may put on record at most. */
const maxPullRequests = 20;

export interface TrackingParts extends Pick<Parts, "store" | "settings" | "workspaces" | "clock" | "log"> {
  trackers: Trackers;
  /** When a session's facts were last confirmed. */
  heard: Map<SessionId, number>;
}

/** Sessions of one project with where they are asked about. */
interface Group {
  settings: ProjectSettings;
  sessions: SessionState[];
}

export class Tracking {
  readonly #parts: TrackingParts;
  readonly #told: (ids: SessionId[]) => Promise<void>;
  readonly #health = new Map<Tracker, TrackerHealth>();
  readonly #misses = new Map<string, number>();
  /** When a pull request was last touched, by address: whether its threads may be others now. */
  readonly touched = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | null = null;
  #again = false;
  /** The next round is to know it from the host itself, not from what the adapter remembers of it. */
  #fresh = false;
  #closed = false;

  /** @param told is given the sessions that were asked about, after each round. */
  constructor(parts: TrackingParts, told: (ids: SessionId[]) => Promise<void>) {
    this.#parts = parts;
    this.#told = told;
  }

  /** Something changed on the board: a session more or less to ask about. */
  schedule(atOnce = false): void {
    if (this.#closed || (this.#timer !== undefined && !atOnce)) return;
    const delay = atOnce ? 0 : pollDelay(this.#candidates(), this.#parts.clock.now());
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (delay === null) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.poll(atOnce);
    }, delay);
    this.#timer.unref();
  }

  /** One round for all; a second one that is asked for meanwhile follows it, so that nobody gets an older answer. */
  async poll(fresh = false): Promise<void> {
    if (fresh) this.#fresh = true;
    if (this.#round !== null) {
      this.#again = true;
      await this.#round;
      // It was just over when it was asked for once more.
      if (this.#again && !this.#closed) await this.poll(fresh);
      return;
    }
    const rounds = async (): Promise<void> => {
      do {
        this.#again = false;
        await this.#one();
      } while (this.#again && !this.#closed);
    };
    this.#round = rounds()
      .catch((error: unknown) => this.#parts.log.warn("asking the trackers failed", { error: messageOf(error) }))
      .finally(() => {
        this.#round = null;
        clearTimeout(this.#timer);
        this.#timer = undefined;
        this.schedule();
      });
    await this.#round;
  }

  trackerFor(settings: ProjectTracker): Tracker {
    const { type, repo, baseUrl, tokenEnv } = settings;
    const tracker = this.#parts.trackers.for({ type, repo, baseUrl, tokenEnv });
    if (!this.#health.has(tracker)) this.#health.set(tracker, new TrackerHealth());
    return tracker;
  }

  /** One question with a deadline; what goes wrong is an answer too, and is remembered. */
  async ask<T>(settings: ProjectTracker, question: (tracker: Tracker) => Promise<Asked<T>>): Promise<Asked<T>> {
    const tracker = this.trackerFor(settings);
    const answer = await this.#bounded(tracker, question(tracker));
    if (answer !== null && answer.is !== "unknown") this.#health.get(tracker)?.ok(this.#parts.clock.now());
    else if (answer?.is === "unknown") this.#health.get(tracker)?.failed(answer.why);
    return answer ?? { is: "unknown", why: this.#why(tracker), retryAt: null };
  }

  report(): TrackerJson[] {
    const now = this.#parts.clock.now();
    return this.#parts.store.projects().flatMap(({ id }) => {
      const settings = this.#parts.settings.last(id);
      if (settings === null) return [];
      const trackers = new Set(placesOf(settings).map((place) => this.trackerFor(place)));
      return [...trackers].flatMap((tracker) => this.#health.get(tracker)?.json(id, tracker, now) ?? []);
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await bounded(this.#parts.trackers.close(), 500).catch(() => undefined);
  }

  #candidates(): SessionState[] {
    const known = new Set(
      this.#parts.store
        .projects()
        .filter(({ id }) => placesOf(this.#parts.settings.last(id)).length > 0)
        .map(({ id }) => id),
    );
    return this.#parts.store.sessions().filter((session) => known.has(session.project));
  }

  async #one(): Promise<void> {
    const fresh = this.#fresh;
    this.#fresh = false;
    const groups = await this.#groups();
    const asked = await Promise.all([...this.#byHost(groups, fresh), ...this.#byTracker(groups)].map((ask) => ask()));
    await reach("tracking.asked");
    if (!this.#closed) await this.#told([...new Set(asked.flat())]);
  }

  /** Read anew each round: what a file says now counts, and one bad file keeps no other project from being asked. */
  async #groups(): Promise<Group[]> {
    const groups = new Map<ProjectId, SessionState[]>();
    for (const session of this.#parts.store.sessions()) {
      if (isTracked(session)) groups.set(session.project, [...(groups.get(session.project) ?? []), session]);
    }
    const all = await Promise.all(
      [...groups].map(async ([project, sessions]): Promise<Group[]> => {
        try {
          return [{ settings: await this.#parts.settings.forSession(project), sessions }];
        } catch {
          return [];
        }
      }),
    );
    return all.flat();
  }

  #byHost(groups: readonly Group[], fresh: boolean): (() => Promise<SessionId[]>)[] {
    return this.#gather(groups, (settings) => settings.codeHost).map(([tracker, members]) => async () => {
      const { host } = tracker;
      if (host === null || this.#rests(tracker)) return [];
      const questions = members.flatMap(({ session, settings }) => this.#question(session, settings, fresh));
      if (questions.length === 0) return [];
      const answers = await this.#bounded(tracker, host.pullRequests(questions));
      const hidden = `${tracker.settings.repo} is not there, or the token may not see it.`;
      return await this.#take(tracker, members, answers, hidden, (session, facts) =>
        this.#takePullRequests(session, facts),
      );
    });
  }

  #byTracker(groups: readonly Group[]): (() => Promise<SessionId[]>)[] {
    return this.#gather(groups, (settings) => settings.tracker).map(([tracker, members]) => async () => {
      if (this.#rests(tracker)) return [];
      const wanted = members.filter(({ session }) => session.issue !== null && looksLikeIssue(session.issue));
      if (wanted.length === 0) return [];
      const references = [...new Set(wanted.map(({ session }) => session.issueSeen?.key ?? session.issue ?? ""))];
      const answers = await this.#bounded(tracker, tracker.issues(references));
      const bySession =
        answers === null
          ? null
          : new Map(
              wanted.flatMap(({ session }) => {
                const answer = answers.get(session.issueSeen?.key ?? session.issue ?? "");
                return answer === undefined ? [] : [[session.id as string, answer] as const];
              }),
            );
      return await this.#take(tracker, wanted, bySession, null, (session, facts) => this.#takeIssue(session, facts));
    });
  }

  /** Two projects of one repository are one question. */
  #gather(
    groups: readonly Group[],
    placeOf: (settings: ProjectSettings) => ProjectTracker | null,
  ): [Tracker, { session: SessionState; settings: ProjectSettings }[]][] {
    const byTracker = new Map<Tracker, { session: SessionState; settings: ProjectSettings }[]>();
    for (const { settings, sessions } of groups) {
      const place = placeOf(settings);
      if (place === null || place === undefined) continue;
      const tracker = this.trackerFor(place);
      const members = sessions.map((session) => ({ session, settings }));
      byTracker.set(tracker, [...(byTracker.get(tracker) ?? []), ...members]);
    }
    return [...byTracker];
  }

  #question(session: SessionState, settings: ProjectSettings, fresh: boolean): PullRequestQuestion[] {
    const branch = this.#branchOf(session);
    const numbers = (session.pullRequests ?? [])
      .filter(({ facts, lost }) => facts.state !== "merged" && !isTaken(lost))
      .map(({ facts }) => facts.number);
    // Whatever comes from a default branch is somebody else's.
    if (branch === settings.defaultBranch && numbers.length === 0) return [];
    return [{ key: session.id, branch, numbers, ...(fresh ? { fresh } : {}) }];
  }

  #branchOf(session: SessionState): string {
    try {
      const live = this.#parts.workspaces.liveBranch(session.workspacePath);
      // A detached HEAD has a commit's name, which is no branch.
      return live === null || /^[0-9a-f]{8}$/.test(live) ? session.branch : live;
    } catch {
      return session.branch;
    }
  }

  async #take<T>(
    tracker: Tracker,
    members: readonly { session: SessionState }[],
    answers: ReadonlyMap<string, Asked<T>> | null,
    /** What it means when all of it is absent; null where that is an answer. */
    hidden: string | null,
    take: (session: SessionState, value: T) => Promise<void>,
  ): Promise<SessionId[]> {
    const health = this.#health.get(tracker);
    if (answers === null || this.#closed) return [];
    const heard: SessionId[] = [];
    let why: string | null = null;
    for (const { session } of members) {
      const answer = answers.get(session.id);
      if (answer === undefined) continue;
      if (answer.is === "unknown" || (answer.is === "absent" && hidden !== null)) {
        why ??= answer.is === "unknown" ? answer.why : hidden;
        continue;
      }
      try {
        if (answer.is === "known") await take(session, answer.value);
        this.#parts.heard.set(session.id, this.#parts.clock.now());
        heard.push(session.id);
      } catch (error) {
        why ??= messageOf(error);
        this.#parts.log.warn("what a tracker said could not be recorded", {
          session: session.id,
          error: messageOf(error),
        });
      }
    }
    if (why !== null) health?.failed(why);
    else health?.ok(this.#parts.clock.now());
    return heard;
  }

  async #takePullRequests(session: SessionState, answer: PullRequestFacts[]): Promise<void> {
    const branch = this.#branchOf(session);
    const own: PullRequestFacts[] = [];
    for (const facts of answer.slice(0, maxPullRequests)) {
      if (isSane(facts) && (await this.#isOwn(session, branch, facts))) own.push(facts);
    }
    if (this.#closed) return;
    for (const { url, updatedAt } of own) this.touched.set(url, updatedAt);
    await this.#parts.store.change(session.id, (state) => {
      const known = state.pullRequests ?? [];
      const of = (facts: PullRequestFacts) =>
        known.find((one) => one.facts.url === facts.url || one.facts.number === facts.number);
      return [
        ...own
          .filter((facts) => differs(of(facts), facts))
          .map((facts): SessionEvent => ({ type: "pull-request.seen", pullRequest: facts })),
        ...this.#missing(state, own),
      ];
    });
  }

  /** Asked for by number and not shown. A merged one is not asked for any more and stays. */
  #missing(state: SessionState, shown: readonly PullRequestFacts[]): SessionEvent[] {
    return (state.pullRequests ?? []).flatMap(({ facts, lost }): SessionEvent[] => {
      if (lost !== null || facts.state === "merged") return [];
      const key = `${state.id} ${facts.url}`;
      if (shown.some((one) => one.number === facts.number)) {
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
  async #isOwn(session: SessionState, branch: string, facts: PullRequestFacts): Promise<boolean> {
    const known = (session.pullRequests ?? []).find((one) => one.facts.number === facts.number);
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

  async #takeIssue(session: SessionState, facts: IssueFacts): Promise<void> {
    if (this.#closed) return;
    const { body: _, ...issue } = facts;
    await this.#parts.store.change(session.id, ({ issueSeen }) => {
      const before = issueSeen === undefined ? null : [issueSeen.key, issueSeen.url, issueSeen.title, issueSeen.state];
      const same = JSON.stringify(before) === JSON.stringify([issue.key, issue.url, issue.title, issue.state]);
      return same ? [] : [{ type: "issue.seen", issue }];
    });
  }

  #rests(tracker: Tracker): boolean {
    const { restsUntil } = tracker.budget();
    return restsUntil !== null && restsUntil > this.#parts.clock.now();
  }

  async #bounded<T>(tracker: Tracker, work: Promise<T>): Promise<T | null> {
    const health = this.#health.get(tracker);
    try {
      const answer = await bounded(work, askDeadlineMs);
      if (answer !== "too-late") return answer as T;
      health?.failed(`It did not answer within ${askDeadlineMs / 1000} s.`);
    } catch (error) {
      health?.failed(messageOf(error));
      this.#parts.log.warn("a tracker's answer could not be understood", { error: messageOf(error) });
    }
    return null;
  }

  #why(tracker: Tracker): string {
    return this.#health.get(tracker)?.json("", tracker, this.#parts.clock.now()).why ?? "It did not answer.";
  }
}

/** Written when another session claimed it; what else is lost may come back. */
export const takenReason = "claimed by ";

function isTaken(lost: string | null): boolean {
  return lost?.startsWith(takenReason) ?? false;
}

/** Issues and pull requests; mostly the same place. */
export function placesOf(settings: ProjectSettings | null): ProjectTracker[] {
  // Settings that an earlier version kept have no code host.
  const { tracker = null, codeHost = null } = (settings ?? {}) as Partial<ProjectSettings>;
  return [
    ...new Map([tracker, codeHost].filter((place) => place !== null).map((place) => [keyOf(place), place])).values(),
  ];
}

function keyOf({ type, repo, baseUrl }: ProjectTracker): string {
  return `${type} ${baseUrl ?? ""} ${repo}`;
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
