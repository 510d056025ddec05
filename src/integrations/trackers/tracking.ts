/**
 * Polls trackers for the sessions' pull requests and issues, off the hot path: one query per repository for all of its
 * sessions, each with a deadline. Differences are recorded; a missing response changes nothing.
 */
import { isDue, isTracked, pollDelay } from "../reactions/polling.ts";
import { bounded } from "../../base/async.ts";
import { reach } from "../../base/test-points.ts";
import type { ProjectSettings, ProjectTracker } from "../../ports/projects.ts";
import type { TrackerFailure, TrackerResult, Tracker, Trackers } from "../../ports/tracker.ts";
import { messageOf } from "../../contract/errors.ts";
import type { ProjectId, SessionId } from "../../contract/ids.ts";
import type { SessionState } from "../../model/session.ts";
import type { IssueFacts } from "../../contract/tracker.ts";
import type { TrackerJson } from "../../contract/tracker.ts";
import { issueReference, looksLikeIssue } from "../../model/issue.ts";
import { Coordinator } from "../../supervisor/coordinator.ts";
import type { Services } from "../../supervisor/services.ts";
import { TrackerHealth } from "./health.ts";
import { askAll, lookupOf, renamedTo, TrackerRecord } from "./record.ts";

/** Longer than the adapters' own deadlines for a query in several parts. */
const queryDeadlineMs = 45_000;

export interface TrackingServices extends Pick<Services, "store" | "settings" | "workspaces" | "clock" | "log"> {
  trackers: Trackers;
  polled: PollTimes;
}

/** When the tracker last confirmed what is recorded, by session. */
export interface PollTimes {
  pullRequests: Map<SessionId, number>;
  issues: Map<SessionId, number>;
}

/** Sessions of one project. */
interface Group {
  settings: ProjectSettings;
  sessions: SessionState[];
}

export class Tracking {
  readonly #services: TrackingServices;
  readonly #onPolled: (ids: SessionId[]) => Promise<void>;
  readonly #health = new Map<Tracker, TrackerHealth>();
  readonly record: TrackerRecord;
  #timer: NodeJS.Timeout | undefined;
  readonly #rounds = new Coordinator<null>({
    run: () => this.#one(),
    onError: (_, error) => this.#services.log.warn("polling the trackers failed", { error: messageOf(error) }),
    onSettled: () => {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.schedule();
    },
  });
  /** The next round bypasses the adapter's cache. */
  #fresh = false;
  #polled = false;
  #closed = false;

  /** @param onPolled receives the sessions of each round. */
  constructor(services: TrackingServices, onPolled: (ids: SessionId[]) => Promise<void>) {
    this.#services = services;
    this.#onPolled = onPolled;
    this.record = new TrackerRecord(services, () => this.#closed);
  }

  /** Called when something changed on the board: there may be more or fewer sessions to poll. */
  schedule(atOnce = false): void {
    if (this.#closed || (this.#timer !== undefined && !atOnce)) return;
    const delay = atOnce ? 0 : pollDelay(this.#candidates(), this.#services.clock.now());
    // Results of a previous daemon are old: the first poll is not delayed.
    const wait = this.#polled ? delay : 0;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (delay === null) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.poll(atOnce);
    }, wait ?? 0);
    this.#timer.unref();
  }

  /** One round for all; a poll during a round is followed by another one, so that no caller gets an older result. */
  async poll(fresh = false): Promise<void> {
    if (fresh) this.#fresh = true;
    await this.#rounds.wake(null);
  }

  trackerFor(settings: ProjectTracker): Tracker {
    const { webhookSecretEnv: _, ...rest } = settings;
    const tracker = this.#services.trackers.for(rest);
    if (!this.#health.has(tracker)) this.#health.set(tracker, new TrackerHealth());
    return tracker;
  }

  /** One query with a deadline. Failures are results too, and are recorded in the tracker's health. */
  async query<T>(
    settings: ProjectTracker,
    send: (tracker: Tracker) => Promise<TrackerResult<T>>,
  ): Promise<TrackerResult<T>> {
    const tracker = this.trackerFor(settings);
    const health = this.#health.get(tracker)!;
    const now = this.#services.clock.now();
    const result = await this.#bounded(tracker, send(tracker));
    if (result === null)
      return { is: "unknown", why: health.json("", tracker, now).why ?? "No response.", retryAt: null };
    if (result.is === "unknown") health.failed(result);
    else health.ok(this.#services.clock.now());
    return result;
  }

  report(): TrackerJson[] {
    const now = this.#services.clock.now();
    return this.#services.store.projects().flatMap(({ id }) => {
      const settings = this.#services.settings.last(id);
      if (settings === null) return [];
      const trackers = new Set(trackersOf(settings).map((one) => this.trackerFor(one)));
      return [...trackers].flatMap((tracker) => {
        const of = this.#health.get(tracker)?.json(id, tracker, now);
        return of === undefined ? [] : [of.state === "ok" ? { ...of, why: of.why ?? this.#renamed(id, tracker) } : of];
      });
    });
  }

  #renamed(project: ProjectId, tracker: Tracker): string | null {
    const polled = this.#services.store
      .sessions()
      .filter((session) => session.project === project && this.#services.polled.pullRequests.has(session.id));
    const name = tracker.host === null ? null : renamedTo(polled, tracker.settings.repo);
    return name === null ? null : `The repository was renamed to ${name}.`;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    void this.#rounds.close();
    await bounded(this.#services.trackers.close(), 500).catch(() => undefined);
  }

  #candidates(): SessionState[] {
    const known = new Set(
      this.#services.store
        .projects()
        .filter(({ id }) => trackersOf(this.#services.settings.last(id)).length > 0)
        .map(({ id }) => id),
    );
    return this.#services.store.sessions().filter((session) => known.has(session.project));
  }

  async #one(): Promise<void> {
    const fresh = this.#fresh;
    this.#fresh = false;
    this.#polled = true;
    const groups = await this.#groups(fresh);
    const polled = await Promise.all(
      [...this.#byHost(groups, fresh), ...this.#byTracker(groups)].map((poll) => poll()),
    );
    await reach("tracking.asked");
    if (!this.#closed) await this.#onPolled([...new Set(polled.flat())]);
  }

  /** Settings are read again each round; one bad file does not keep other projects from being polled. */
  async #groups(fresh: boolean): Promise<Group[]> {
    const { pullRequests, issues } = this.#services.polled;
    const now = this.#services.clock.now();
    const due = this.#services.store.sessions().filter((session) => {
      const polledAt = pullRequests.get(session.id) ?? issues.get(session.id) ?? null;
      return fresh ? isTracked(session) : isDue(session, polledAt, now);
    });
    const groups = Map.groupBy(due, ({ project }) => project);
    const all = await Promise.all(
      [...groups].map(async ([project, sessions]): Promise<Group[]> => {
        try {
          return [{ settings: await this.#services.settings.forSession(project), sessions }];
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
      const lookups = members.flatMap(({ session, settings }) =>
        lookupOf(session, this.#branchOf(session), settings, fresh),
      );
      if (lookups.length === 0) return [];
      const answers = await this.#bounded(tracker, askAll(tracker, host, members, lookups));
      const why = `${tracker.settings.repo} does not exist, or the token cannot access it.`;
      return await this.#take(tracker, members, answers, {
        hidden: { why, token: "refused" },
        polled: this.#services.polled.pullRequests,
        take: (session, facts) =>
          this.record.pullRequests(session, { branch: this.#branchOf(session), repo: tracker.settings.repo }, facts),
      });
    });
  }

  #byTracker(groups: readonly Group[]): (() => Promise<SessionId[]>)[] {
    return this.#gather(groups, (settings) => settings.tracker).map(([tracker, members]) => async () => {
      if (this.#rests(tracker)) return [];
      const wanted = members.filter(({ session }) => session.issue !== null && looksLikeIssue(session.issue));
      if (wanted.length === 0) return [];
      const keyOf = (session: SessionState): string => issueReference(session, tracker.settings.repo);
      const references = [...new Set(wanted.map(({ session }) => keyOf(session)))];
      const answers = await this.#bounded(tracker, tracker.issues(references));
      if (answers === null) return [];
      const bySession = new Map<string, TrackerResult<IssueFacts>>();
      for (const { session } of wanted) {
        const answer = answers.get(keyOf(session));
        if (answer !== undefined) bySession.set(session.id, answer);
      }
      return await this.#take(tracker, wanted, bySession, {
        hidden: null,
        polled: this.#services.polled.issues,
        take: (session, facts) => this.record.issue(session, facts),
      });
    });
  }

  /** Projects of the same repository share one query. */
  #gather(
    groups: readonly Group[],
    settingsOf: (settings: ProjectSettings) => ProjectTracker | null,
  ): [Tracker, { session: SessionState; settings: ProjectSettings }[]][] {
    const members = groups.flatMap(({ settings, sessions }) => {
      const of = settingsOf(settings) ?? null;
      const tracker = of === null ? null : this.trackerFor(of);
      return tracker === null ? [] : sessions.map((session) => ({ session, settings, tracker }));
    });
    return [...Map.groupBy(members, ({ tracker }) => tracker)];
  }

  #branchOf(session: SessionState): string {
    try {
      const live = this.#services.workspaces.liveBranch(session.workspacePath);
      // A detached HEAD is shown as a commit, not as a branch.
      return live === null || /^[0-9a-f]{8}$/.test(live) ? session.branch : live;
    } catch {
      return session.branch;
    }
  }

  async #take<T>(
    tracker: Tracker,
    members: readonly { session: SessionState }[],
    answers: ReadonlyMap<string, TrackerResult<T>> | null,
    by: {
      /** What a missing entry means; null if it is a normal result. */
      hidden: TrackerFailure | null;
      polled: Map<SessionId, number>;
      take: (session: SessionState, value: T) => Promise<void>;
    },
  ): Promise<SessionId[]> {
    const health = this.#health.get(tracker);
    if (answers === null || this.#closed) return [];
    const polled: SessionId[] = [];
    let failure: TrackerFailure | null = null;
    for (const { session } of members) {
      const answer = answers.get(session.id);
      if (answer === undefined) continue;
      if (answer.is === "unknown" || (answer.is === "absent" && by.hidden !== null)) {
        failure ??= answer.is === "unknown" ? answer : by.hidden;
        continue;
      }
      try {
        if (answer.is === "known") await by.take(session, answer.value);
        by.polled.set(session.id, this.#services.clock.now());
        polled.push(session.id);
      } catch (error) {
        failure ??= { why: messageOf(error) };
        const fields = { session: session.id, error: messageOf(error) };
        this.#services.log.warn("recording a tracker's result failed", fields);
      }
    }
    if (failure !== null) health?.failed(failure);
    else health?.ok(this.#services.clock.now());
    return polled;
  }

  #rests(tracker: Tracker): boolean {
    const { restsUntil } = tracker.budget();
    return restsUntil !== null && restsUntil > this.#services.clock.now();
  }

  async #bounded<T>(tracker: Tracker, work: Promise<T>): Promise<T | null> {
    const health = this.#health.get(tracker);
    try {
      const answer = await bounded(work, queryDeadlineMs);
      if (answer !== "too-late") return answer;
      health?.failed({ why: `No response within ${queryDeadlineMs / 1000} s.` });
    } catch (error) {
      health?.failed({ why: messageOf(error) });
      this.#services.log.warn("polling a tracker failed", { error: messageOf(error) });
    }
    return null;
  }
}

/** Where issues and pull requests are; mostly the same tracker. */
export function trackersOf(settings: ProjectSettings | null): ProjectTracker[] {
  // Settings saved by an earlier version have no code host.
  const { tracker = null, codeHost = null } = (settings ?? {}) as Partial<ProjectSettings>;
  return [...new Map([tracker, codeHost].flatMap((one) => (one === null ? [] : [[keyOf(one), one]]))).values()];
}

function keyOf({ type, repo, baseUrl }: ProjectTracker): string {
  return `${type} ${baseUrl ?? ""} ${repo}`;
}
