/**
 * Carries out the steps of plan.ts. A reaction and its message are one commit, so a crash neither repeats nor loses one:
 * before the commit nothing has happened, after it the prompt is queued like any other.
 */
import { allDone, lostTogether } from "./conditions.ts";
import type { Observed } from "../../model/facts.ts";
import { applyVerb } from "../../model/lifecycle.ts";
import { orchestratorOf } from "../../model/roles.ts";
import { logTailLines, messageFor, noticeFor, quotedLogs, type CheckLog } from "./message.ts";
import { planReactions, settingOf, type ReactionStep } from "./plan.ts";
import { digestOf } from "../../base/digest.ts";
import { reach } from "../../base/test-points.ts";
import type { ProjectSettings } from "../../ports/projects.ts";
import type { CodeHost, TrackerResult } from "../../ports/tracker.ts";
import { messageOf } from "../../contract/errors.ts";
import type { FactEvent } from "../../contract/event.ts";
import { asPromptId, type PromptId, type SessionId } from "../../contract/ids.ts";
import { reactionActor } from "../../contract/reaction.ts";
import type { SessionState } from "../../model/session.ts";
import type { PullRequestFacts, ReviewThread } from "../../contract/tracker.ts";
import { Coordinator } from "../../supervisor/coordinator.ts";
import type { Loop } from "../../supervisor/loop.ts";
import type { Notifications } from "./notifications.ts";
import { startOf } from "../../supervisor/callers/callers.ts";
import type { Services } from "../../supervisor/services.ts";
import type { Tracking } from "../trackers/tracking.ts";
import { currentStatus } from "../../supervisor/view.ts";

/** A plan may first need the threads of a pull request; each is requested once. */
const maxPlans = 5;

type Fired = Extract<ReactionStep, { do: "send" | "notify" | "merge" | "escalate" }>;

export class Reactor {
  readonly #services: Services;
  readonly #loop: Loop;
  readonly #notifications: Notifications;
  /** Null until a tracker is used. */
  readonly #tracking: () => Tracking | null;
  readonly #runs = new Coordinator<SessionId>({
    run: (id) => this.#react(id),
    onError: (id, error) => this.#services.log.warn("reaction failed", { session: id, error: messageOf(error) }),
  });
  readonly #threads = new Map<string, { touched: number; answer: Observed<ReviewThread[]> }>();
  #closed = false;

  constructor(services: Services, loop: Loop, notifications: Notifications, tracking: () => Tracking | null) {
    this.#services = services;
    this.#loop = loop;
    this.#notifications = notifications;
    this.#tracking = tracking;
  }

  /** Resolves once all reactions of these sessions ran; a slow one does not delay the others. */
  async consider(ids: readonly SessionId[]): Promise<void> {
    await Promise.all([...new Set([...ids, ...this.#orchestratorsOf(ids)])].map((id) => this.#runs.wake(id)));
  }

  close(): void {
    this.#closed = true;
    void this.#runs.close();
  }

  async #react(id: SessionId): Promise<void> {
    const first = this.#services.store.session(id);
    if (first === null || first.intent.want === "deleted") return;
    const settings =
      this.#services.settings.last(first.project) ?? (await this.#services.settings.forSession(first.project));
    const threads = new Map<string, Observed<ReviewThread[]>>();
    for (let round = 0; round < maxPlans && !this.#closed; round++) {
      const session = this.#services.store.session(id);
      if (session === null) return;
      const steps = this.#plan(session, settings, threads);
      const requests = steps.filter((step) => step.do === "ask-threads");
      for (const { pullRequest } of requests)
        threads.set(pullRequest.url, await this.#readThreads(settings, pullRequest));
      for (const step of steps) if (step.do !== "ask-threads") await this.#execute(session, settings, step);
      if (requests.length === 0) return;
    }
  }

  #plan(
    session: SessionState,
    settings: ProjectSettings,
    threads: ReadonlyMap<string, Observed<ReviewThread[]>>,
  ): ReactionStep[] {
    const reactions = reactionsOf(settings);
    const judge = (one: SessionState) => currentStatus(this.#services, this.#loop, one);
    const ofProject = () =>
      this.#services.store
        .sessions()
        .filter((one) => one.project === session.project)
        .map((one) => ({ session: one, status: judge(one).status }));
    const { status, reason, turnFailed = false } = judge(session);
    const whenDone = settingOf("all-done", reactions);
    const finished = whenDone === null ? null : allDone(ofProject(), whenDone.action);
    const isLost = status === "failed" && session.run.run === "ended" && session.run.how === "lost";
    const facts = {
      session,
      start: startOf(this.#services, session),
      status,
      reason,
      turnFailed,
      ...(isLost ? { lostTogether: lostTogether(session, ofProject()) } : {}),
      polledAt: this.#services.polledAt(session.id),
      threads,
      allDone: finished?.session === session.id ? finished.key : null,
    };
    return planReactions(facts, reactions, this.#services.clock.now());
  }

  /** Orchestrators to message when the last of their workers finishes: only the worker has changed then. */
  #orchestratorsOf(ids: readonly SessionId[]): SessionId[] {
    const projects = new Set(ids.flatMap((id) => this.#services.store.session(id)?.project ?? []));
    return [...projects].flatMap((project) => {
      const settings = this.#services.settings.last(project);
      if (settingOf("all-done", reactionsOf(settings))?.action !== "send-to-agent") return [];
      return orchestratorOf(this.#services.store.sessions(), project)?.id ?? [];
    });
  }

  async #execute(session: SessionState, settings: ProjectSettings, step: ReactionStep): Promise<void> {
    if (this.#closed) return;
    switch (step.do) {
      case "ask-threads":
        return;
      case "clear":
        await this.#services.store.commit(session.id, () => [{ type: "reaction.cleared", reaction: step.reaction }]);
        return;
      case "send":
        return this.#send(session, settings, step);
      case "notify":
      case "escalate":
        return this.#notify(session, settings, step);
      case "merge":
        return this.#merge(session, settings, step);
      default:
        step satisfies never;
    }
  }

  async #send(session: SessionState, settings: ProjectSettings, step: Extract<Fired, { do: "send" }>): Promise<void> {
    const logs = step.reaction === "ci-failed" ? await this.#logs(settings, step) : [];
    const promptId = asPromptId(`reaction-${step.reaction}-${digestOf(`${session.id} ${step.key}`)}`);
    const text = messageFor(step, logs);
    await reach("reaction.planned");
    if (this.#closed) return;
    await this.#services.store.applyVerb(session.id, (state) => {
      if (!this.#isCurrent(session, state, step) || state.permissions.length > 0) return null;
      const verb = applyVerb(state, { verb: "prompt", promptId, text }, { by: reactionActor, agent: "alive" });
      return verb.ok ? { ...verb, events: [firedEvent(step, promptId), ...verb.events] } : null;
    });
    await reach("reaction.recorded");
    this.#loop.wake(session.id);
  }

  async #notify(
    session: SessionState,
    settings: ProjectSettings,
    step: Extract<Fired, { do: "notify" | "escalate" }>,
  ): Promise<void> {
    const { title, text } = noticeFor(session, step);
    const note: FactEvent = {
      type: "notification",
      id: `${session.id}-${digestOf(`${step.reaction} ${step.do} ${step.key}`)}`,
      title,
      text,
      why: step.why,
      channels: await this.#notifications.channelsOf(settings.notify),
    };
    const { reaction, why, key } = step;
    const fired: FactEvent =
      step.do === "notify" ? firedEvent(step) : { type: "reaction.escalated", reaction, why, key };
    await this.#services.store.commit(session.id, (state) =>
      this.#isCurrent(session, state, step) ? [fired, note] : [],
    );
    // Not awaited: a slow channel must not delay other reactions.
    void this.#notifications.sendPending(session.id);
  }

  async #merge(session: SessionState, settings: ProjectSettings, step: Extract<Fired, { do: "merge" }>): Promise<void> {
    const { pullRequest } = step.condition;
    if (pullRequest === null) return;
    let begun = false;
    await this.#services.store.commit(session.id, (state) => {
      begun = this.#isCurrent(session, state, step);
      return begun ? [firedEvent(step)] : [];
    });
    await reach("reaction.merging");
    if (!begun) return;
    const { codeHost } = settings;
    const host = codeHost === null ? null : (this.#tracking()?.trackerFor(codeHost).host ?? null);
    const answer =
      host === null
        ? { merged: false as const, why: "its tracker is no longer configured" }
        : await host.merge(pullRequest).catch((error: unknown) => ({ merged: false as const, why: messageOf(error) }));
    if (this.#closed) return;
    const text = answer.merged
      ? `Merged pull request #${pullRequest.number}, as configured for ${step.reaction}.`
      : `Could not merge pull request #${pullRequest.number}: ${answer.why}`;
    await this.#services.store.commit(session.id, () => [
      { type: "notice", level: answer.merged ? "info" : "warn", text },
    ]);
    if (answer.merged) this.#tracking()?.schedule(true);
  }

  /** Whether the plan still applies: the intent is unchanged and nothing else reacted meanwhile. */
  #isCurrent(planned: SessionState, now: SessionState, { reaction, key, ...step }: Fired): boolean {
    if (now.intent.want !== planned.intent.want || now.intent.seq !== planned.intent.seq) return false;
    const before = planned.reactions?.[reaction];
    const history = now.reactions?.[reaction];
    if (history?.attempts !== before?.attempts || history?.escalated !== before?.escalated) return false;
    return step.do === "merge" || history?.keys.includes(key) === before?.keys.includes(key);
  }

  async #logs(settings: ProjectSettings, step: Fired): Promise<CheckLog[]> {
    const { pullRequest, failedChecks } = step.condition;
    if (pullRequest === null) return [];
    return Promise.all(
      failedChecks.slice(0, quotedLogs).map(async (check) => {
        const answer = await this.#query(settings, (host) => host.logTail(pullRequest, check, logTailLines));
        return { check, lines: answer.is === "known" ? answer.value : null };
      }),
    );
  }

  async #readThreads(settings: ProjectSettings, pullRequest: PullRequestFacts): Promise<Observed<ReviewThread[]>> {
    const touched = this.#tracking()?.record.touched.get(pullRequest.url) ?? pullRequest.updatedAt;
    const cached = this.#threads.get(pullRequest.url);
    // New threads and replies touch the pull request, so an untouched one has the same threads.
    if (cached !== undefined && cached.touched === touched) return cached.answer;
    const answer = await this.#query(settings, (host) => host.threads(pullRequest));
    if (answer.is !== "unknown") this.#threads.set(pullRequest.url, { touched, answer });
    return answer;
  }

  async #query<T>(
    { codeHost }: ProjectSettings,
    query: (host: CodeHost) => Promise<TrackerResult<T>>,
  ): Promise<Observed<T>> {
    const tracking = this.#tracking();
    if (tracking === null || codeHost === null) return { is: "unknown", why: "there is no tracker" };
    return await tracking.query(codeHost, async ({ host }) => (host === null ? { is: "absent" } : await query(host)));
  }
}

function firedEvent(step: Exclude<Fired, { do: "escalate" }>, promptId?: PromptId): FactEvent {
  const { reaction, why, key, setting, attempt } = step;
  const sent = promptId === undefined ? {} : { promptId };
  return { type: "reaction.fired", reaction, action: setting.action, why, key, attempt, ...sent };
}

/** Settings saved by an earlier version have no reactions. */
function reactionsOf(settings: Partial<ProjectSettings> | null): ProjectSettings["reactions"] {
  return settings?.reactions ?? {};
}
