/** `stop --halt-sessions`: every session is brought down, and then the daemon ends, however long that takes. */
import { reach } from "../base/test-points.ts";
import { isLive, downReason } from "../model/runs.ts";
import type { Output } from "../contract/operations.ts";
import type { Actor, SessionId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import { commitPolicyVerb } from "../supervisor/apply-verb.ts";
import { runtimeFacts } from "../supervisor/observe.ts";
import type { Loop } from "../supervisor/loop.ts";
import type { Services } from "../supervisor/services.ts";

/** Long enough for an agent that ignores every signal but the last one. */
const haltMs = Number(process.env["HOLDFAST_TEST_HALT_MS"] ?? 15_000);
/** Each session takes a share of the machine: 61 of them at a load of 14 took half a minute. */
const haltMsEach = 1_000;
export const haltLimitMs = (sessions: number): number => haltMs + haltMsEach * sessions;
/** As long as a timer can be. */
const foreverMs = 2 ** 31 - 1;

export class Halt {
  readonly #parts: Services;
  readonly #loop: Loop;
  readonly #shutDown: () => void;
  #current: AbortController | null = null;

  constructor(parts: Services, loop: Loop, shutDown: () => void) {
    this.#parts = parts;
    this.#loop = loop;
    this.#shutDown = shutDown;
  }

  /** Nothing new is started meanwhile. */
  get isOn(): boolean {
    return this.#current !== null;
  }

  /** Answers when everything is down or the time is up; then the daemon ends as soon as the rest is down. */
  async begin(by: Actor): Promise<Output<"daemonStop">> {
    this.#current?.abort();
    const current = new AbortController();
    this.#current = current;
    try {
      const sessions = this.#affected();
      await Promise.all(sessions.map((session) => commitPolicyVerb(this.#parts, session, { verb: "halt" }, by)));
      const ids = sessions.map(({ id }) => id);
      for (const id of ids) this.#loop.asked(id);
      await reach("halt.recorded");
      const limitMs = haltLimitMs(ids.length);
      await Promise.all(ids.map((id) => this.#loop.waitFor(id, () => this.#isDown(id), limitMs)));
      const remaining = ids.filter((id) => !this.#isDown(id));
      if (remaining.length > 0) void this.#finish(current, remaining);
      else this.#end(current);
      return { kept: 0, halted: ids.filter((id) => !remaining.includes(id)), remaining };
    } catch (error) {
      this.#giveUp(current);
      throw error;
    }
  }

  /** Everything that runs or is being ended, deleted sessions too, and everything that would be started. */
  #affected(): SessionState[] {
    const { store } = this.#parts;
    return [...store.sessions(), ...store.deleting()].filter(
      (session) => !this.#isDown(session.id) || this.#wouldStart(session),
    );
  }

  #wouldStart(session: SessionState): boolean {
    return session.intent.want === "running" && downReason(session, this.#parts.restore) === null;
  }

  /** An end that is on record is not yet the end of what the agent left behind. */
  #isDown(id: SessionId): boolean {
    const session = this.#parts.store.session(id);
    if (session === null) return true;
    if (isLive(session.run) || !this.#loop.isDown(id)) return false;
    return runtimeFacts(this.#loop.observation(session)).is === "absent";
  }

  /** You may change your mind: what you ask to run again keeps the daemon. */
  async #finish(current: AbortController, remaining: readonly SessionId[]): Promise<void> {
    const { store, log } = this.#parts;
    const { signal } = current;
    const look = (): void => {
      if (store.sessions().some((session) => this.#wouldStart(session) && isUser(session.intent.by)))
        this.#giveUp(current);
    };
    look();
    if (signal.aborted) return;
    const stopLooking = store.onCommit(look);
    log.info("the daemon ends once these sessions are down", { sessions: remaining.join(", ") });
    await Promise.all(remaining.map((id) => this.#loop.waitFor(id, () => this.#isDown(id), foreverMs, signal)));
    stopLooking();
    this.#end(current);
  }

  #end(current: AbortController): void {
    if (!current.signal.aborted) this.#shutDown();
  }

  #giveUp(current: AbortController): void {
    current.abort();
    if (this.#current === current) this.#current = null;
  }
}

/** You, or an agent that acts for you; not a policy. */
function isUser(by: Actor): boolean {
  return by === "person" || by.startsWith("session:");
}
