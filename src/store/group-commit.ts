/**
 * All writes of one tick share one commit, because a disk flush costs as much for one row as for a thousand. A refused
 * write fails alone; a failed commit fails all of its writes and changes nothing.
 */
import type { Draft } from "./draft.ts";
import type { Reserve } from "./reserve.ts";

/** More are split into several commits, to let other work of the daemon run in between. */
const maxOperationsPerCommit = 2000;

interface Operation {
  /** Returns the result for the caller, once committed. */
  apply: (draft: Draft) => unknown;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

interface Accepted {
  operation: Operation;
  result: unknown;
}

export interface GroupCommitParts {
  reserve: Reserve;
  /** `endingsOnly`: refuses everything but stops, kills and deletions as disk-full. */
  draft(endingsOnly: boolean): Draft;
  committed(draft: Draft): void;
  isDiskFull(error: unknown): boolean;
  /** The error for the callers of a failed commit. */
  failure(error: unknown): unknown;
}

export class GroupCommit {
  readonly #parts: GroupCommitParts;
  #queue: Operation[] = [];
  #timer: NodeJS.Immediate | undefined;

  constructor(parts: GroupCommitParts) {
    this.#parts = parts;
  }

  enqueue<T>(apply: (draft: Draft) => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ apply, resolve: resolve as (value: unknown) => void, reject });
      this.#timer ??= setImmediate(() => this.#tick());
    });
  }

  /** Commits everything queued, immediately. */
  flush(): void {
    clearImmediate(this.#timer);
    this.#timer = undefined;
    while (this.#queue.length > 0) this.#commit(this.#take());
  }

  #tick(): void {
    this.#timer = undefined;
    const operations = this.#take();
    if (this.#queue.length > 0) this.#timer = setImmediate(() => this.#tick());
    this.#commit(operations);
  }

  #take(): Operation[] {
    return this.#queue.length <= maxOperationsPerCommit
      ? this.#queue.splice(0)
      : this.#queue.splice(0, maxOperationsPerCommit);
  }

  /** Every failure rejects the callers; nothing is thrown into the event loop [DAEMON-24]. */
  #commit(operations: readonly Operation[]): void {
    try {
      this.#attempt(operations);
    } catch (error) {
      const failure = this.#parts.failure(error);
      for (const { reject } of operations) reject(failure);
    }
  }

  /** With `endingsOnly` it uses the space of the reserve, which is only for stops, kills and deletions [DAEMON-23]. */
  #attempt(operations: readonly Operation[], endingsOnly = !this.#parts.reserve.ready()): void {
    const draft = this.#parts.draft(endingsOnly);
    const accepted = applyAll(operations, draft);
    try {
      draft.write();
    } catch (error) {
      if (!this.#parts.isDiskFull(error) || endingsOnly || !draft.endsSomething) return this.#fail(accepted, error);
      this.#parts.reserve.release();
      return this.#attempt(
        accepted.map(({ operation }) => operation),
        true,
      );
    }
    this.#parts.committed(draft);
    for (const { operation, result } of accepted) operation.resolve(result);
  }

  #fail(accepted: readonly Accepted[], error: unknown): void {
    const failure = this.#parts.failure(error);
    for (const { operation } of accepted) operation.reject(failure);
  }
}

function applyAll(operations: readonly Operation[], draft: Draft): Accepted[] {
  const accepted: Accepted[] = [];
  for (const operation of operations) {
    try {
      accepted.push({ operation, result: operation.apply(draft) });
    } catch (error) {
      operation.reject(error);
    }
  }
  return accepted;
}
