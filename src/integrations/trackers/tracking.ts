/**
 * Asks trackers what became of the sessions' pull requests and issues, off the hot path: one question a repository for all
 * of its sessions, each with a deadline. What is different goes on record; what was not said changes nothing.
 */
import { isDue, isTracked, pollDelay } from "../reactions/polling.ts";
import { bounded } from "../../base/async.ts";
import { reach } from "../../base/test-points.ts";
import type { ProjectSettings, ProjectTracker } from "../../ports/projects.ts";
import type { Asked, Tracker, Trackers } from "../../ports/tracker.ts";
import { messageOf } from "../../contract/error.ts";
import type { ProjectId, SessionId } from "../../contract/ids.ts";
import type { SessionState } from "../../model/session.ts";
import type { IssueFacts } from "../../contract/tracker.ts";
import type { TrackerJson } from "../../contract/wire.ts";
import { issueReference, looksLikeIssue } from "../../model/issue.ts";
import { Coordinator } from "../../supervisor/coordinator.ts";
import type { Services } from "../../supervisor/services.ts";
import { TrackerHealth } from "./health.ts";
import { askAll, questionOf, renamedTo, TrackerRecord } from "./record.ts";

/** Longer than the adapters' own deadlines for a question in several parts. */
const askDeadlineMs = 45_000;

export interface TrackingParts extends Pick<Services, "store" | "settings" | "workspaces" | "clock" | "log"> {
  trackers: Trackers;
  heard: Heard;
}

/** When what is on record of sessions was last confirmed. */
export interface Heard {
  pullRequests: Map<SessionId, number>;
  issues: Map<SessionId, number>;
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
  readonly record: TrackerRecord;
  #timer: NodeJS.Timeout | undefined;
  readonly #rounds = new Coordinator<null>({
    run: () => this.#one(),
    onError: (_, error) => this.#parts.log.warn("polling the trackers failed", { error: messageOf(error) }),
    onSettled: () => {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.schedule();
    },
  });
  /** The next round is to know it from the host itself, not from what the adapter remembers of it. */
  #fresh = false;
  #polled = false;
  #closed = false;

  /** @param told is given the sessions that were asked about, after each round. */
  constructor(parts: TrackingParts, told: (ids: SessionId[]) => Promise<void>) {
    this.#parts = parts;
    this.#told = told;
    this.record = new TrackerRecord(parts, () => this.#closed);
  }

  /** Something changed on the board: a session more or less to ask about. */
  schedule(atOnce = false): void {
    if (this.#closed || (this.#timer !== undefined && !atOnce)) return;
    const delay = atOnce ? 0 : pollDelay(this.#candidates(), this.#parts.clock.now());
    // What an earlier daemon heard is old: the first question is not put off.
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
    const { webhookSecretEnv: _, ...place } = settings;
    const tracker = this.#parts.trackers.for(place);
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
      return [...trackers].flatMap((tracker) => {
        const of = this.#health.get(tracker)?.json(id, tracker, now);
        return of === undefined ? [] : [of.state === "ok" ? { ...of, why: of.why ?? this.#renamed(id, tracker) } : of];
      });
    });
  }

  #renamed(project: ProjectId, tracker: Tracker): string | null {
    const heard = this.#parts.store
      .sessions()
      .filter((session) => session.project === project && this.#parts.heard.pullRequests.has(session.id));
    const name = tracker.host === null ? null : renamedTo(heard, tracker.settings.repo);
    return name === null ? null : `It is called ${name} now.`;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    void this.#rounds.close();
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
    this.#polled = true;
    const groups = await this.#groups(fresh);
    const asked = await Promise.all([...this.#byHost(groups, fresh), ...this.#byTracker(groups)].map((ask) => ask()));
    await reach("tracking.asked");
    if (!this.#closed) await this.#told([...new Set(asked.flat())]);
  }

  /** Read anew each round: what a file says now counts, and one bad file keeps no other project from being asked. */
  async #groups(fresh: boolean): Promise<Group[]> {
    const { pullRequests, issues } = this.#parts.heard;
    const now = this.#parts.clock.now();
    const groups = new Map<ProjectId, SessionState[]>();
    for (const session of this.#parts.store.sessions()) {
      const heardAt = pullRequests.get(session.id) ?? issues.get(session.id) ?? null;
      if (fresh ? isTracked(session) : isDue(session, heardAt, now))
        groups.set(session.project, [...(groups.get(session.project) ?? []), session]);
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
      const questions = members.flatMap(({ session, settings }) =>
        questionOf(session, this.#branchOf(session), settings, fresh),
      );
      if (questions.length === 0) return [];
      const answers = await this.#bounded(tracker, askAll(tracker, host, members, questions));
      const hidden = `${tracker.settings.repo} is not there, or the token may not see it.`;
      return await this.#take(tracker, members, answers, {
        hidden,
        heard: this.#parts.heard.pullRequests,
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
      const bySession = new Map<string, Asked<IssueFacts>>();
      for (const { session } of wanted) {
        const answer = answers.get(keyOf(session));
        if (answer !== undefined) bySession.set(session.id, answer);
      }
      return await this.#take(tracker, wanted, bySession, {
        hidden: null,
        heard: this.#parts.heard.issues,
        take: (session, facts) => this.record.issue(session, facts),
      });
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
    by: {
      /** What it means when all of it is absent; null where that is an answer. */
      hidden: string | null;
      heard: Map<SessionId, number>;
      take: (session: SessionState, value: T) => Promise<void>;
    },
  ): Promise<SessionId[]> {
    const health = this.#health.get(tracker);
    if (answers === null || this.#closed) return [];
    const heard: SessionId[] = [];
    let why: string | null = null;
    for (const { session } of members) {
      const answer = answers.get(session.id);
      if (answer === undefined) continue;
      if (answer.is === "unknown" || (answer.is === "absent" && by.hidden !== null)) {
        why ??= answer.is === "unknown" ? answer.why : by.hidden;
        continue;
      }
      try {
        if (answer.is === "known") await by.take(session, answer.value);
        by.heard.set(session.id, this.#parts.clock.now());
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

  #rests(tracker: Tracker): boolean {
    const { restsUntil } = tracker.budget();
    return restsUntil !== null && restsUntil > this.#parts.clock.now();
  }

  async #bounded<T>(tracker: Tracker, work: Promise<T>): Promise<T | null> {
    const health = this.#health.get(tracker);
    try {
      const answer = await bounded(work, askDeadlineMs);
      if (answer !== "too-late") return answer;
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
