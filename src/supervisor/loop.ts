/**
 * For every session: observe, decide, execute, and again, on a timer and on every event. Level-triggered: a lost wake-up
 * costs a little time, never a session. One session's failure or slowness stops no other.
 */
import { decide } from "./decide.ts";
import type { Action, SessionFacts } from "../model/facts.ts";
import { isLostWithServer, looksDead, massDeath } from "./mass-death.ts";
import { isInactive, isLive } from "../model/runs.ts";
import type { Observation } from "../ports/runtime.ts";
import type { FactEvent } from "../contract/event.ts";
import { HoldfastError, messageOf } from "../contract/errors.ts";
import { kinds, type LaunchId, type SessionId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import { Coordinator } from "./coordinator.ts";
import { observe, runtimeFacts, workspaceFacts } from "./observe.ts";
import type { Services } from "./services.ts";
import type { Executor } from "./execute/execute.ts";
import { WorktreeProbe } from "./worktree-probe.ts";
import { isRecordedLaunch } from "./unrecorded.ts";

type Needs = Pick<
  Services,
  "store" | "runtimes" | "workspaces" | "agents" | "settings" | "programs" | "clock" | "log" | "restore"
>;

/** How often all sessions are observed without any hint. Hints make the usual case immediate. */
const passEveryMs = 5_000;
/** After this many actions in a row a session pauses, so that a flapping one cannot spin. */
const maxActionsInARow = 25;
const errorRetryMs = [1_000, 2_000, 5_000, 15_000, 30_000];
const longestTimerMs = 2 ** 31 - 1;

const absent: Observation = { seen: { is: "absent" }, cause: "identity-gone" };

interface LastError {
  /** Failures in a row. */
  count: number;
  message: string;
  /** Blocked from outside, for example by a process that uses the worktree: this may last long. */
  isConflict: boolean;
}

export class Loop {
  readonly #services: Needs;
  readonly #execute: Executor;
  readonly #seen = new Map<SessionId, Observation>();
  readonly #lastErrors = new Map<SessionId, LastError>();
  /** Why the next prompt of a session is not sent yet, with the session's sequence at that time. */
  readonly #held = new Map<SessionId, { why: string; seq: number }>();
  readonly #timers = new Map<SessionId, NodeJS.Timeout>();
  readonly #watchers = new Set<(id: SessionId) => void>();
  readonly #worktrees: WorktreeProbe;
  /** Sessions that are down with nothing left to do, by their sequence then: skipped until that changes. */
  readonly #inactive = new Map<SessionId, number>();
  /** Sessions whose launch waits for a program, and since when. */
  readonly #missing = new Map<SessionId, { why: string; since: number }>();
  /** Chat sessions whose agent the user restarts, by the launch to replace. */
  readonly #restarts = new Map<SessionId, LaunchId>();
  /** Sessions that a pass has just observed: their next step needs no new observation. */
  readonly #observed = new Set<SessionId>();
  readonly #steps = new Coordinator<SessionId>({
    run: (id) => this.#step(id),
    onError: (id, error) => this.#failed(id, "observe", error),
    onSettled: (id) => this.#notify(id),
  });
  readonly #passes = new Coordinator<null>({
    run: () => this.#pass(),
    onError: (_, error) => this.#services.log.error("observing all sessions failed; retrying", { error }),
    onSettled: () => this.#schedulePass(),
  });
  #recheckAt: number | null = null;
  #passTimer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(services: Needs, execute: Executor) {
    this.#services = services;
    this.#execute = execute;
    this.#worktrees = new WorktreeProbe(services.workspaces, services.store);
    for (const runtime of Object.values(services.runtimes)) runtime.onHint((id) => this.wake(id));
  }

  /** Resolves when every session has its first observation; launches follow in the background. */
  async start(): Promise<void> {
    const sessions = this.#active();
    await this.#observe(sessions);
    for (const session of sessions) this.#stepObserved(session.id);
    this.#schedulePass();
  }

  /** Something changed for this session, or for all of them. */
  wake(id: SessionId | null): void {
    if (id !== null) void this.#steps.wake(id);
    else void this.#passes.wake(null);
  }

  /** The user asked for something: earlier failures no longer count. */
  asked(id: SessionId): void {
    this.#lastErrors.delete(id);
    this.#missing.delete(id);
    this.wake(id);
  }

  /** Stops this launch, and only this one, so that the next decision starts the agent again. */
  restart(id: SessionId, launch: LaunchId): void {
    this.#restarts.set(id, launch);
    this.asked(id);
  }

  /** Null before the first observation. Inactive sessions have no processes to observe. */
  observation(session: SessionState): Observation | null {
    return this.#seen.get(session.id) ?? (isInactive(session) ? absent : null);
  }

  /** The latest failed action of this session; null once one succeeded. */
  lastError(id: SessionId): LastError | null {
    return this.#lastErrors.get(id) ?? null;
  }

  /** Why the program of a session that is due for a launch cannot start; null otherwise. */
  missingProgram(id: SessionId): string | null {
    return this.#missing.get(id)?.why ?? null;
  }

  /** Why the next prompt is held, if it is. */
  held(id: SessionId): { why: string; seq: number } | null {
    return this.#held.get(id) ?? null;
  }

  isBusy(id: SessionId): boolean {
    return this.#steps.isRunning(id);
  }

  /** No live run is recorded, and no action is under way. */
  isDown(id: SessionId): boolean {
    const run = this.#services.store.session(id)?.run;
    return !this.isBusy(id) && (run === undefined || !isLive(run));
  }

  /** Waits until the condition holds for the session, or the deadline passes; returns whether it holds. */
  waitFor(id: SessionId, holds: () => boolean, deadlineMs: number, signal?: AbortSignal): Promise<boolean> {
    if (holds()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const finish = (held: boolean): void => {
        clearTimeout(timer);
        this.#watchers.delete(watcher);
        signal?.removeEventListener("abort", onAbort);
        resolve(held);
      };
      const watcher = (changed: SessionId): void => void (changed === id && holds() && finish(true));
      const onAbort = (): void => finish(holds());
      const timer = setTimeout(() => finish(holds()), deadlineMs);
      this.#watchers.add(watcher);
      signal?.addEventListener("abort", onAbort);
    });
  }

  /** Stops deciding. An action under way gets this long; every step can be repeated later. */
  async close(graceMs: number): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#passTimer);
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await Promise.all([this.#passes.close(), this.#steps.close(graceMs)]);
  }

  #active(): readonly SessionState[] {
    const { store, runtimes } = this.#services;
    const all = [...store.sessions(), ...store.deleting()].filter(({ id, seq }) => this.#inactive.get(id) !== seq);
    const inactive = all.filter(isInactive);
    const leftovers = kinds.map((kind) => runtimes[kind].leftovers(inactive.filter((one) => one.kind === kind)));
    return all.filter((session) => !isInactive(session) || leftovers.some((ids) => ids.has(session.id)));
  }

  async #pass(): Promise<void> {
    clearTimeout(this.#passTimer);
    const sessions = this.#active();
    await this.#observe(sessions);
    // A failed session waits for its own retry time, which grows with each failure.
    for (const { id } of sessions) if (!(this.#lastErrors.has(id) && this.#timers.has(id))) this.#stepObserved(id);
  }

  #schedulePass(): void {
    if (this.#closed) return;
    clearTimeout(this.#passTimer);
    const wait = this.#recheckAt === null ? passEveryMs : Math.max(0, this.#recheckAt - this.#services.clock.now());
    this.#passTimer = setTimeout(() => this.wake(null), Math.min(wait, passEveryMs));
  }

  /** One observation of all sessions that may have processes; the others are down by their own record. */
  async #observe(sessions: readonly SessionState[]): Promise<void> {
    const found = await observe(
      this.#services,
      sessions.filter((session) => this.#mayBeUp(session)),
    );
    for (const session of sessions) {
      // Launched or ended since the observation began: only its own observation counts.
      if (this.#services.store.session(session.id)?.run === session.run) {
        this.#seen.set(session.id, found.get(session.id) ?? absent);
      }
    }
    await this.#worktrees.observe(sessions);
    const verdict = massDeath(
      sessions.filter(({ run }) => isLive(run)).map((session) => this.#facts(session)),
      this.#services.clock.now(),
      this.#recheckAt,
    );
    this.#recheckAt = verdict.recheckAt;
    if (verdict.tripped)
      this.#services.log.warn("most sessions look dead without a proven cause; checking again before concluding");
  }

  /** Whether there may be processes: a run that is not recorded as ended, or leftovers of an ended one. */
  #mayBeUp(session: SessionState): boolean {
    // Even with no recorded run: a newer record, since lost, may have named one.
    if (session.run.run === "launching" || session.run.run === "up") return true;
    return this.#services.runtimes[session.kind].mayHaveLeft(session);
  }

  /** A session that is busy makes its own observation after that. */
  #stepObserved(id: SessionId): void {
    if (!this.#steps.isRunning(id)) this.#observed.add(id);
    void this.#steps.wake(id);
  }

  async #step(id: SessionId): Promise<void> {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    const isObserved = this.#observed.delete(id);
    let needsObservation = !isObserved;
    for (let count = 0; count < maxActionsInARow && !this.#closed; count++) {
      let session = this.#services.store.session(id);
      if (session === null) return this.#forget(id);
      if (needsObservation) {
        this.#seen.set(id, (await observe(this.#services, this.#mayBeUp(session) ? [session] : [])).get(id) ?? absent);
        await this.#worktrees.observe([session]);
      }
      await this.#noteActivity(session);
      session = this.#services.store.session(id) ?? session;
      const now = this.#services.clock.now();
      const facts = this.#facts(session);
      // A session that looks dead may be one of many: the breaker judges all sessions. And all sessions lost with their
      // server are observed before the first loss is recorded, so that they are reported together.
      if (!isObserved && (looksDead(facts) || isLostWithServer(facts))) return this.wake(null);
      const action = decide(facts, now);
      this.#notify(id);
      if (action === null) {
        this.#held.delete(id);
        return this.#settle(session);
      }
      if (action.do === "wait") {
        this.#hold(id, action.why);
        const { intent } = session;
        if (intent.want === "snoozed" && action.until === intent.until) this.#clearLeftovers(session);
        return this.#scheduleStep(id, action.until - now);
      }
      // Watchers are notified after the next observation, so that they see the outcome and not the record alone.
      const next = await this.#try(session, action);
      if (next === "pause") return;
      needsObservation = next === "observe";
    }
    if (!this.#closed) this.#scheduleStep(id, errorRetryMs[0]!);
  }

  /** `pause` after a failure: the action is retried later, and the reason can be read meanwhile. */
  async #try(session: SessionState, action: Action): Promise<"observe" | "observed" | "pause"> {
    try {
      const outcome = await this.#execute(session, action, this.#seen.get(session.id) ?? absent);
      if (outcome === "done") return "observe";
      if ("seen" in outcome) {
        this.#seen.set(session.id, outcome.seen);
        return "observed";
      }
      if (outcome.why !== undefined) this.#hold(session.id, outcome.why);
      this.#scheduleStep(session.id, outcome.retryInMs);
      return "pause";
    } catch (error) {
      this.#failed(session.id, action.do, error);
      return "pause";
    }
  }

  #hold(id: SessionId, why: string): void {
    this.#held.set(id, { why, seq: this.#services.store.session(id)?.seq ?? 0 });
  }

  #settle(session: SessionState): void {
    this.#lastErrors.delete(session.id);
    this.#clearLeftovers(session);
    if (!this.#mayBeUp(session)) this.#inactive.set(session.id, session.seq);
  }

  /** Removes files that a crash left after the end of a run, also those of the kind before a conversion. */
  #clearLeftovers(session: SessionState): void {
    if (this.#seen.get(session.id)?.seen.is !== "absent" || isLive(session.run)) return;
    for (const runtime of Object.values(this.#services.runtimes))
      if (runtime.mayHaveLeft(session)) runtime.clear(session);
  }

  #failed(id: SessionId, action: string, error: unknown): void {
    const count = (this.#lastErrors.get(id)?.count ?? 0) + 1;
    const isConflict = error instanceof HoldfastError && error.code === "conflict";
    this.#lastErrors.set(id, { count, message: messageOf(error), isConflict });
    this.#services.log.error("action failed", { session: id, action, error });
    this.#notify(id);
    this.#scheduleStep(id, errorRetryMs[Math.min(count, errorRetryMs.length) - 1]!);
  }

  #facts(session: SessionState): SessionFacts {
    const observation = this.#seen.get(session.id) ?? absent;
    const agent = this.#services.agents.of(session);
    const canResume = session.kind === "terminal" ? (agent?.terminal?.resume ?? null) !== null : true;
    const { workspaces } = this.#services;
    const program = (): NonNullable<SessionFacts["program"]> => this.#program(session);
    return {
      session,
      runtime: this.#runtime(session, observation),
      absence: observation.cause,
      // Getters: a pass covers a hundred sessions, and few decisions need these.
      get workspace() {
        return workspaceFacts(workspaces.exists(session.workspacePath));
      },
      get program() {
        return program();
      },
      restoreLost: this.#services.restore && (this.#services.settings.last(session.project)?.restoreOnBoot ?? true),
      canResume,
      recheckAt: this.#recheckAt,
      workspaceInTrash: this.#worktrees.isInTrash(session.id),
      trashedUnrecorded: this.#worktrees.isTrashedUnrecorded(session),
      isCreating: this.#worktrees.isCreating(session.id),
      restartRequested: session.run.run === "up" && this.#restarts.get(session.id) === session.run.launch,
    };
  }

  #runtime(session: SessionState, observation: Observation): SessionFacts["runtime"] {
    const facts = runtimeFacts(observation);
    const { run, id } = session;
    const launch = observation.seen.is === "known" ? observation.seen.value.launch : null;
    if (facts.is !== "known" || launch === null || (run.run !== "none" && run.launch === launch)) return facts;
    return { is: "known", value: { ...facts.value, unrecorded: !isRecordedLaunch(this.#services.store, id, launch) } };
  }

  #program(session: SessionState): NonNullable<SessionFacts["program"]> {
    const found = this.#services.programs.of(session);
    if (found?.is !== "missing") {
      this.#missing.delete(session.id);
      return { is: "found" };
    }
    const before = this.#missing.get(session.id);
    const missing = { why: found.why, since: before?.since ?? this.#services.clock.now() };
    this.#missing.set(session.id, missing);
    if (before === undefined) this.#services.log.warn("agent program missing", { session: session.id, ...missing });
    return { is: "missing", ...missing };
  }

  /** Records changes of the agent's activity as events: followers learn of changes by commits alone. */
  async #noteActivity(session: SessionState): Promise<void> {
    const seen = this.#seen.get(session.id)?.seen;
    if (seen?.is !== "known" || !seen.value.agent.alive || session.run.run !== "up") return;
    const { activity, agentSessionId } = seen.value;
    const events: FactEvent[] = [];
    // A chat agent's activity follows from its own events.
    if (session.kind === "terminal" && activity !== null && activity.activity !== session.activity?.activity) {
      events.push({ type: "activity.changed", activity: activity.activity, source: activity.source });
    }
    if (agentSessionId !== null && agentSessionId !== session.agentSessionId) {
      events.push({ type: "conversation.pinned", agentSessionId });
    }
    // Reported by the agent's hooks; an agent without hooks that works has been prompted.
    const used = seen.value.prompted === true || (session.kind === "terminal" && activity?.activity === "working");
    if (used && !session.prompted) events.push({ type: "conversation.used" });
    if (events.length > 0) await this.#services.store.commit(session.id, (now) => (now.run.run === "up" ? events : []));
  }

  #scheduleStep(id: SessionId, ms: number): void {
    if (this.#closed) return;
    clearTimeout(this.#timers.get(id));
    const timer = setTimeout(() => this.wake(id), Math.min(Math.max(ms, 0), longestTimerMs));
    this.#timers.set(id, timer);
  }

  #notify(id: SessionId): void {
    for (const watcher of this.#watchers) watcher(id);
  }

  #forget(id: SessionId): void {
    this.#seen.delete(id);
    this.#lastErrors.delete(id);
    this.#held.delete(id);
    this.#worktrees.forget(id);
    this.#inactive.delete(id);
    this.#restarts.delete(id);
    this.#missing.delete(id);
    this.#notify(id);
  }
}
