/** `stop --halt-sessions`: stops every session and then the daemon, however long that takes. */
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
  readonly #services: Pick<Services, "store" | "restore" | "log">;
  readonly #loop: Loop;
  readonly #shutDown: () => void;
  #current: AbortController | null = null;

  constructor(services: Pick<Services, "store" | "restore" | "log">, loop: Loop, shutDown: () => void) {
    this.#services = services;
    this.#loop = loop;
    this.#shutDown = shutDown;
  }

  /** No session is started meanwhile. */
  get isOn(): boolean {
    return this.#current !== null;
  }

  /** Resolves when everything is down or the time is up; the daemon stops once the others are down too. */
  async begin(by: Actor): Promise<Output<"daemonStop">> {
    this.#current?.abort();
    const current = new AbortController();
    this.#current = current;
    try {
      const sessions = this.#affected();
      await Promise.all(sessions.map((session) => commitPolicyVerb(this.#services, session, { verb: "halt" }, by)));
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

  /** Sessions that run or are being stopped, deleted ones too, and those that would be started. */
  #affected(): SessionState[] {
    const { store } = this.#services;
    return [...store.sessions(), ...store.deleting()].filter(
      (session) => !this.#isDown(session.id) || this.#wouldStart(session),
    );
  }

  #wouldStart(session: SessionState): boolean {
    return session.intent.want === "running" && downReason(session, this.#services.restore) === null;
  }

  /** A recorded end does not mean that the processes the agent left behind have ended. */
  #isDown(id: SessionId): boolean {
    const session = this.#services.store.session(id);
    if (session === null) return true;
    if (isLive(session.run) || !this.#loop.isDown(id)) return false;
    return runtimeFacts(this.#loop.observation(session)).is === "absent";
  }

  /** The user may change their mind: a session that they start again keeps the daemon running. */
  async #finish(current: AbortController, remaining: readonly SessionId[]): Promise<void> {
    const { store, log } = this.#services;
    const { signal } = current;
    const check = (): void => {
      if (store.sessions().some((session) => this.#wouldStart(session) && isUser(session.intent.by)))
        this.#giveUp(current);
    };
    check();
    if (signal.aborted) return;
    const stopChecking = store.onCommit(check);
    log.info("the daemon stops once these sessions are down", { sessions: remaining.join(", ") });
    await Promise.all(remaining.map((id) => this.#loop.waitFor(id, () => this.#isDown(id), foreverMs, signal)));
    stopChecking();
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

/** The user, or an agent that acts for them; not a policy. */
function isUser(by: Actor): boolean {
  return by === "person" || by.startsWith("session:");
}
