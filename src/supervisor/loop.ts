/**
 * For every session: observe, decide, perform, and again, on a timer and on every event. Level-triggered: a lost wake-up
 * costs a little time, never a session. One session's failure or slowness stops no other.
 */
import { decide } from "./decide.ts";
import type { Action, SessionFacts } from "../model/facts.ts";
import { isLostWithServer, looksDead, massDeath } from "./mass-death.ts";
import { isInactive, isLive } from "../model/runs.ts";
import type { Observation } from "../ports/runtime.ts";
import type { FactEvent } from "../contract/event.ts";
import { HoldfastError, messageOf } from "../contract/error.ts";
import type { LaunchId, SessionId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import { runtimeFacts, workspaceFacts } from "./facts.ts";
import { observe } from "./observe.ts";
import type { Services } from "./services.ts";
import type { Executor } from "./execute/execute.ts";
import { WorktreeProbe } from "./worktree-probe.ts";
import { isRecordedLaunch } from "./unrecorded.ts";

type Needs = Pick<
  Services,
  "store" | "runtimes" | "workspaces" | "agents" | "settings" | "programs" | "clock" | "log" | "restore"
>;

/** How often everything is looked at although nothing was heard. Hints make the usual case immediate. */
const passEveryMs = 5_000;
/** After this many actions in a row a session gets a pause, so that a flapping one cannot spin. */
const maxActionsInARow = 25;
const errorRetryMs = [1_000, 2_000, 5_000, 15_000, 30_000];

const gone: Observation = { seen: { is: "absent" }, cause: "identity-gone" };

interface LastError {
  count: number;
  message: string;
  /** Something outside is in the way, such as a process that uses the worktree: it may stay for long. */
  isConflict: boolean;
}

export class Loop {
  readonly #services: Needs;
  readonly #execute: Executor;
  readonly #seen = new Map<SessionId, Observation>();
  readonly #lastErrors = new Map<SessionId, LastError>();
  /** Why the next prompt of a session is not sent yet, with the session's sequence at that time. */
  readonly #held = new Map<SessionId, { why: string; seq: number }>();
  readonly #running = new Map<SessionId, Promise<void>>();
  readonly #again = new Set<SessionId>();
  readonly #timers = new Map<SessionId, NodeJS.Timeout>();
  readonly #watchers = new Set<(id: SessionId) => void>();
  readonly #worktrees: WorktreeProbe;
  /** Sessions that are down with nothing left to do, by the sequence they had then: passed over until that changes. */
  readonly #inactive = new Map<SessionId, number>();
  /** Sessions whose launch waits for a program, and since when. */
  readonly #missing = new Map<SessionId, { why: string; since: number }>();
  /** Chat sessions whose agent a person wants anew, by the launch that is to go. */
  readonly #restarts = new Map<SessionId, LaunchId>();
  #recheckAt: number | null = null;
  #passTimer: NodeJS.Timeout | undefined;
  #passing = false;
  #passWanted = false;
  #closed = false;

  constructor(services: Needs, execute: Executor) {
    this.#services = services;
    this.#execute = execute;
    this.#worktrees = new WorktreeProbe(services.workspaces, services.store);
    for (const runtime of Object.values(services.runtimes)) runtime.onHint((id) => this.wake(id));
  }

  /** Resolves when every session has its first answer; what then has to be launched goes on behind it. */
  async start(): Promise<void> {
    const sessions = this.#active();
    await this.#observe(sessions);
    for (const session of sessions) this.#step(session.id);
    this.#schedulePass();
  }

  /** Something changed for this session, or for all of them. */
  wake(id: SessionId | null): void {
    if (this.#closed) return;
    if (id !== null) this.#step(id, "look");
    else this.#startPass();
  }

  /** A person asked for something: what failed before does not count any more. */
  asked(id: SessionId): void {
    this.#lastErrors.delete(id);
    this.#missing.delete(id);
    this.wake(id);
  }

  /** Ends this launch, and only this one, so that the next decision launches anew. */
  restart(id: SessionId, launch: LaunchId): void {
    this.#restarts.set(id, launch);
    this.asked(id);
  }

  /** Null before the first look. Of a session at rest nothing is there to be seen. */
  observation(session: SessionState): Observation | null {
    return this.#seen.get(session.id) ?? (isInactive(session) ? gone : null);
  }

  /** What went wrong the last time something was tried for this session, and how often in a row. */
  lastError(id: SessionId): LastError | null {
    return this.#lastErrors.get(id) ?? null;
  }

  /** Why the program of a session that is to be launched cannot be; null where it can, or nothing is to be launched. */
  missingProgram(id: SessionId): string | null {
    return this.#missing.get(id)?.why ?? null;
  }

  /** Why the next prompt waits, where something was waited for. */
  held(id: SessionId): { why: string; seq: number } | null {
    return this.#held.get(id) ?? null;
  }

  /** Whether something is being done for this session right now. */
  isBusy(id: SessionId): boolean {
    return this.#running.has(id);
  }

  /** Nothing of it is on record as running, and nothing is being done for it. */
  isDown(id: SessionId): boolean {
    const run = this.#services.store.session(id)?.run;
    return !this.isBusy(id) && (run === undefined || !isLive(run));
  }

  /** Waits until the session looks as asked, or the time is up; says which. */
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

  /** Stops deciding. What is in the middle of an action is waited for briefly; every step can be repeated later. */
  async close(graceMs: number): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#passTimer);
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await Promise.race([
      Promise.all(this.#running.values()),
      new Promise((resolve) => setTimeout(resolve, graceMs).unref()),
    ]);
  }

  #active(): readonly SessionState[] {
    const all = [...this.#services.store.sessions(), ...this.#services.store.deleting()];
    return all.filter(
      (session) => this.#inactive.get(session.id) !== session.seq && !(isInactive(session) && !this.#mayBeUp(session)),
    );
  }

  #startPass(): void {
    this.#passWanted = true;
    if (!this.#passing) void this.#runPasses();
  }

  async #runPasses(): Promise<void> {
    this.#passing = true;
    while (this.#passWanted && !this.#closed) {
      this.#passWanted = false;
      clearTimeout(this.#passTimer);
      try {
        const sessions = this.#active();
        await this.#observe(sessions);
        // What failed waits for its own time, which grows with each failure.
        for (const { id } of sessions) if (!(this.#lastErrors.has(id) && this.#timers.has(id))) this.#step(id);
      } catch (error) {
        this.#services.log.error("a look at all sessions failed; the next one comes", { error });
      }
    }
    this.#passing = false;
    this.#schedulePass();
  }

  #schedulePass(): void {
    if (this.#closed) return;
    clearTimeout(this.#passTimer);
    const wait = this.#recheckAt === null ? passEveryMs : Math.max(0, this.#recheckAt - this.#services.clock.now());
    this.#passTimer = setTimeout(() => this.#startPass(), Math.min(wait, passEveryMs));
  }

  /** One observation for all that could have something to be seen; the rest is down by its own record. */
  async #observe(sessions: readonly SessionState[]): Promise<void> {
    const found = await observe(
      this.#services,
      sessions.filter((session) => this.#mayBeUp(session)),
    );
    for (const session of sessions) {
      // One that was launched or has ended since the look began: only its own look tells.
      if (this.#services.store.session(session.id)?.run === session.run) {
        this.#seen.set(session.id, found.get(session.id) ?? gone);
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
      this.#services.log.warn("most sessions look dead without a proven cause; looking again before concluding");
  }

  /** Whether there can be something to see: a run that is not recorded as ended, or leftovers of one that is. */
  #mayBeUp(session: SessionState): boolean {
    // Without any run on record there may still be one that a newer record named.
    if (session.run.run === "launching" || session.run.run === "up") return true;
    return this.#services.runtimes[session.kind].mayHaveLeft(session);
  }

  #step(id: SessionId, first: "look" | "seen" = "seen"): void {
    if (this.#closed) return;
    if (this.#running.has(id)) {
      this.#again.add(id);
      return;
    }
    const work = this.#steps(id, first)
      .catch((error: unknown) => this.#failed(id, "look", error))
      .finally(() => {
        this.#running.delete(id);
        if (this.#again.delete(id)) this.#step(id, "look");
        else this.#notify(id);
      });
    this.#running.set(id, work);
  }

  async #steps(id: SessionId, first: "look" | "seen"): Promise<void> {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    let look = first === "look";
    for (let count = 0; count < maxActionsInARow && !this.#closed; count++) {
      let session = this.#services.store.session(id);
      if (session === null) return this.#forget(id);
      if (look) {
        this.#seen.set(id, (await observe(this.#services, this.#mayBeUp(session) ? [session] : [])).get(id) ?? gone);
        await this.#worktrees.observe([session]);
      }
      await this.#noteActivity(session);
      session = this.#services.store.session(id) ?? session;
      const now = this.#services.clock.now();
      const facts = this.#facts(session);
      // One session that looks dead may be one of many: the breaker judges over the whole board. And one that is lost with
      // its server is one of many: all are seen to be gone before the first is recorded, so that they are reported together.
      if (first === "look" && (looksDead(facts) || isLostWithServer(facts))) return this.#startPass();
      const actions = decide(facts, now);
      this.#notify(id);
      const action = actions[0];
      if (action === undefined) {
        this.#held.delete(id);
        return this.#rest(session);
      }
      if (action.do === "wait") {
        this.#hold(id, action.why);
        const { intent } = session;
        if (intent.want === "snoozed" && action.until === intent.until) this.#clearLeft(session);
        return this.#scheduleStep(id, action.until - now);
      }
      // Told about after the next look, so that whoever waits sees the outcome and not the record alone.
      const then = await this.#try(session, action);
      if (then === "pause") return;
      look = then === "look";
    }
    if (!this.#closed) this.#scheduleStep(id, errorRetryMs[0]!);
  }

  /** `pause` when it failed; then it is tried again later, and the reason can be read meanwhile. */
  async #try(session: SessionState, action: Action): Promise<"look" | "seen" | "pause"> {
    try {
      const outcome = await this.#execute(session, action, this.#seen.get(session.id) ?? gone);
      if (outcome === "done") return "look";
      if ("seen" in outcome) {
        this.#seen.set(session.id, outcome.seen);
        return "seen";
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

  #rest(session: SessionState): void {
    this.#lastErrors.delete(session.id);
    this.#clearLeft(session);
    if (!this.#mayBeUp(session)) this.#inactive.set(session.id, session.seq);
  }

  /**
   * Files that a crash left behind the end of a run, also of the kind that the session had before it was converted:
   * nothing is to be done for the session before it is started again.
   */
  #clearLeft(session: SessionState): void {
    const absent = this.#seen.get(session.id)?.seen.is === "absent";
    if (!absent || isLive(session.run)) return;
    for (const runtime of Object.values(this.#services.runtimes))
      if (runtime.mayHaveLeft(session)) runtime.clear(session);
  }

  #failed(id: SessionId, action: string, error: unknown): void {
    const count = (this.#lastErrors.get(id)?.count ?? 0) + 1;
    const isConflict = error instanceof HoldfastError && error.code === "conflict";
    this.#lastErrors.set(id, { count, message: messageOf(error), isConflict });
    this.#services.log.error("an action failed", { session: id, action, error });
    this.#notify(id);
    this.#scheduleStep(id, errorRetryMs[Math.min(count, errorRetryMs.length) - 1]!);
  }

  #facts(session: SessionState): SessionFacts {
    const observation = this.#seen.get(session.id) ?? gone;
    const agent = this.#services.agents.of(session);
    const canResume = session.kind === "terminal" ? (agent?.terminal?.resume ?? null) !== null : true;
    const { workspaces } = this.#services;
    const program = (): NonNullable<SessionFacts["program"]> => this.#program(session);
    return {
      session,
      runtime: this.#runtime(session, observation),
      absence: observation.cause,
      // Asked for only by those who want to know: a hundred are looked at in every pass.
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
    if (before === undefined)
      this.#services.log.warn("an agent's program is missing", { session: session.id, ...missing });
    return { is: "missing", ...missing };
  }

  /** What the agent does becomes an event when it changes, so that followers hear of it. */
  async #noteActivity(session: SessionState): Promise<void> {
    const seen = this.#seen.get(session.id)?.seen;
    if (seen?.is !== "known" || !seen.value.agent.alive || session.run.run !== "up") return;
    const { activity, agentSessionId } = seen.value;
    const events: FactEvent[] = [];
    // What a chat agent does follows from its own events; another one would say it twice.
    if (session.kind === "terminal" && activity !== null && activity.activity !== session.activity?.activity) {
      events.push({ type: "activity.changed", activity: activity.activity, source: activity.source });
    }
    if (agentSessionId !== null && agentSessionId !== session.agentSessionId) {
      events.push({ type: "conversation.pinned", agentSessionId });
    }
    // Told by the agent's hooks; one without them that works has been told to.
    const used = seen.value.prompted === true || (session.kind === "terminal" && activity?.activity === "working");
    if (used && !session.prompted) events.push({ type: "conversation.used" });
    if (events.length > 0) await this.#services.store.change(session.id, (now) => (now.run.run === "up" ? events : []));
  }

  #scheduleStep(id: SessionId, ms: number): void {
    if (this.#closed) return;
    clearTimeout(this.#timers.get(id));
    const longest = 2 ** 31 - 1;
    this.#timers.set(
      id,
      setTimeout(() => this.#step(id, "look"), Math.min(Math.max(ms, 0), longest)),
    );
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
