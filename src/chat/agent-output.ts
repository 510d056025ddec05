/**
 * Reads what agents write. A sweep over the sizes of all `out` files is the truth; it runs often while an agent is at work
 * and seldom otherwise. Whole lines of one look are one batch, and a batch is one transaction with its place: after a
 * crash the next daemon reads on from the committed byte, and nothing is lost or doubled.
 */
import { closeSync, constants, openSync, readSync } from "node:fs";
import { isDeeperThan, LineSplitter } from "../base/lines.ts";
import type { Ingest, Ingested, OutputBatchItem } from "../ports/chat.ts";
import type { Logger } from "../ports/api.ts";
import type { SessionId } from "../contract/ids.ts";
import type { Bounds } from "./bounds.ts";
import { exists, type Worker } from "./agent-process.ts";
import { fileSize } from "./agent-files.ts";

export const maxLineBytes = 32 * 1024 * 1024;
/** Deeper values cannot be serialized again, and no agent has a reason to send one. */
const maxDepth = 500;
const chunkBytes = 256 * 1024;
/**
 * One batch holds no more than this, so that neither memory nor a commit grows with what was written meanwhile, and
 * followers are told of one before the next. Larger ones gain nothing: lines live so long that they have to be collected.
 */
const batchBytes = 1024 * 1024;
/** While lines come, the next look follows so soon; between lines of an open turn it slows down to the second. */
const streamingMs = 3;
const quietTurnMs = 20;
/** By how much: an answer is found within a quarter of the time that it took. */
const slowing = 1.25;
/** Agents without a turn may still say something, such as a new list of commands. */
const idleMs = 500;
const hotMs = 2_000;
/** A commit that failed (a full disk) is tried again after this; what was read stays in the file. */
const retryMs = 1_000;
/** An agent is replaced for removed files only when each look in this time found them removed. */
export const lossMs = 10_000;

export interface InboxParts {
  ingest: Ingest;
  bounds: Bounds;
  /** Finishes a cut of the file that is on record; nothing may be read before. */
  settleCut(worker: Worker): Promise<void>;
  /** Called after each commit. */
  ingested(worker: Worker, result: Ingested): void;
  /** Whether a file is known to be removed; false where the disk gives no clear answer. */
  isRemoved(path: string): boolean;
  /** Called once when an agent's files were removed under it: nothing that it writes can be read [CHAT-200]. */
  lost(worker: Worker): void;
  /** Called once when an agent's process is seen to be gone: nothing else tells of a death before the next full look. */
  ended(worker: Worker): void;
  log: Logger;
}

export class Inbox {
  readonly #parts: InboxParts;
  readonly #workers = new Map<SessionId, Worker>();
  readonly #buffer = Buffer.allocUnsafe(chunkBytes);
  #timer: NodeJS.Timeout | undefined;
  #dueAt = Infinity;
  #pause = quietTurnMs;
  #sweptAt = 0;
  #closed = false;

  constructor(parts: InboxParts) {
    this.#parts = parts;
  }

  get(session: SessionId): Worker | undefined {
    return this.#workers.get(session);
  }

  all(): Iterable<Worker> {
    return this.#workers.values();
  }

  follow(worker: Worker): void {
    this.#workers.set(worker.session, worker);
    this.#schedule(0);
  }

  unfollow(worker: Worker): void {
    if (this.#workers.get(worker.session) === worker) this.#workers.delete(worker.session);
  }

  /** Something was sent or is expected: look often for a while. */
  expect(worker: Worker): void {
    worker.hotUntil = performance.now() + hotMs;
    this.#pause = streamingMs;
    this.#schedule(streamingMs);
  }

  /** Reads to the end of the file as it is now. */
  async catchUp(worker: Worker): Promise<void> {
    for (;;) {
      const before = worker.read;
      await this.#pump(worker);
      if (worker.read === before && (fileSize(outOf(worker)) ?? 0) <= worker.fed) return;
      if (worker.notBefore > performance.now()) throw new Error(`the output of ${worker.session} could not be stored`);
    }
  }

  /** Nothing is read of the file meanwhile. */
  async alone<T>(worker: Worker, work: () => Promise<T>): Promise<T> {
    while (worker.pumping !== null) await worker.pumping;
    const running = work();
    worker.pumping = running
      .then(
        () => undefined,
        () => undefined,
      )
      .finally(() => {
        worker.pumping = null;
      });
    return running;
  }

  /** The last read, once nothing can write any more: a line without an end is one that was cut off. */
  async finish(worker: Worker): Promise<void> {
    worker.notBefore = 0;
    await this.catchUp(worker);
    const bytes = worker.fed - worker.read;
    if (bytes > 0) await this.#commit(worker, [{ item: "damaged", what: "torn", bytes }], worker.fed);
    this.unfollow(worker);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #schedule(ms: number): void {
    if (this.#closed) return;
    const at = performance.now() + ms;
    if (at >= this.#dueAt) return;
    clearTimeout(this.#timer);
    this.#dueAt = at;
    this.#timer = setTimeout(() => this.#tick(), ms);
  }

  #tick(): void {
    this.#dueAt = Infinity;
    const now = performance.now();
    const everyone = now - this.#sweptAt >= idleMs;
    if (everyone) this.#sweptAt = now;
    let hot = false;
    let found = false;
    for (const worker of this.#workers.values()) {
      const isHot = worker.turnOpen || worker.waiting > 0 || worker.hotUntil > now;
      hot ||= isHot;
      if (everyone) this.#lookForEnd(worker);
      if (!isHot && !everyone) continue;
      const size = fileSize(outOf(worker));
      if (everyone) this.#lookForLoss(worker, size === null, now);
      if (size === null) continue;
      const mayRead = worker.pumping === null && worker.notBefore <= now;
      if (mayRead && (size !== worker.fed || isBeingCut(worker))) {
        found = true;
        worker.hotUntil = now + hotMs;
        void this.#pump(worker);
      }
      // Also while nothing can be stored: what is full for us will be full for the agent when its reserve is used up.
      this.#parts.bounds.look(worker, size, isHot || found);
    }
    this.#pause = found ? streamingMs : Math.min(this.#pause * slowing, quietTurnMs);
    if (this.#workers.size > 0) this.#schedule(hot || found ? this.#pause : idleMs);
  }

  /** A pid that is somebody else's by now is found out by the next full look. */
  #lookForEnd(worker: Worker): void {
    const { agent } = worker.record;
    if (agent === null || worker.endTold || exists(agent.pid)) return;
    worker.endTold = true;
    this.#parts.ended(worker);
  }

  #lookForLoss(worker: Worker, mayBeGone: boolean, now: number): void {
    const isGone = mayBeGone && this.#parts.isRemoved(outOf(worker));
    if (!seeLoss(worker, isGone, now) || worker.record.agent === null || !exists(worker.record.agent.pid)) return;
    worker.lossReported = true;
    this.#parts.lost(worker);
  }

  /** Reads and commits one batch. Never throws: what could not be stored is read again later. */
  #pump(worker: Worker): Promise<void> {
    worker.pumping ??= this.#readAndCommit(worker)
      .catch((error: unknown) => {
        this.#parts.log.warn("an agent's output could not be stored; it is read again", {
          session: worker.session,
          error,
        });
        this.#rewind(worker, worker.read);
        worker.notBefore = performance.now() + retryMs;
      })
      .finally(() => {
        worker.pumping = null;
      });
    return worker.pumping;
  }

  async #readAndCommit(worker: Worker): Promise<void> {
    if (isBeingCut(worker)) await this.#parts.settleCut(worker);
    const batch = this.#read(worker);
    if (batch.items.length === 0 && batch.to === worker.read) return;
    await this.#commit(worker, batch.items, batch.to);
    if (batch.more && !this.#closed) this.#schedule(0);
  }

  #read(worker: Worker): { items: OutputBatchItem[]; to: number; more: boolean } {
    const items: OutputBatchItem[] = [];
    const size = fileSize(outOf(worker)) ?? worker.fed;
    if (size < worker.fed) {
      // A child that writes to /dev/stdout truncates the file: what comes now starts at its beginning.
      items.push({ item: "damaged", what: "shrunk", bytes: worker.fed - size });
      return { items, to: 0, more: size > 0 };
    }
    let to = worker.read;
    const until = Math.min(size, worker.fed + batchBytes);
    if (worker.fed >= until) return { items, to, more: false };
    worker.splitter ??= new LineSplitter(maxLineBytes, worker.fed);
    const file = openSync(outOf(worker), constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      while (worker.fed < until) {
        const wanted = Math.min(chunkBytes, until - worker.fed);
        const read = readSync(file, this.#buffer, 0, wanted, worker.fed);
        if (read === 0) break;
        worker.fed += read;
        for (const line of worker.splitter.push(this.#buffer.subarray(0, read))) {
          const bytes = line.end - to;
          to = line.end;
          if (line.line === "oversized") items.push({ item: "damaged", what: "oversized", bytes });
          else if (line.text.trim() !== "") items.push(parse(line.text, bytes));
        }
      }
    } finally {
      closeSync(file);
    }
    if (worker.splitter.pending === 0) worker.splitter = null;
    return { items, to, more: size > worker.fed };
  }

  async #commit(worker: Worker, items: OutputBatchItem[], to: number): Promise<void> {
    const { session, launch } = worker;
    const from = worker.read;
    const result = await this.#parts.ingest({ session, launch, from, to, items });
    if (result.read !== to || to < from) this.#rewind(worker, result.read);
    worker.read = result.read;
    worker.turnOpen = result.state.turn.turn === "open";
    this.#parts.ingested(worker, result);
  }

  #rewind(worker: Worker, to: number): void {
    worker.read = to;
    worker.fed = to;
    worker.splitter = null;
  }
}

/** Whether the files of a worker have been removed for so long that they do not come back. */
export function seeLoss(worker: Pick<Worker, "missingSince" | "lossReported">, isGone: boolean, now: number): boolean {
  if (!isGone) {
    worker.missingSince = null;
    worker.lossReported = false;
    return false;
  }
  worker.missingSince ??= now;
  return !worker.lossReported && now - worker.missingSince >= lossMs;
}

export function isBeingCut({ record }: Worker): boolean {
  return (record.truncating ?? null) !== null;
}

export function outOf(worker: Worker): string {
  return `${worker.directory}/out`;
}

function parse(text: string, bytes: number): OutputBatchItem {
  try {
    const message: unknown = isDeeperThan(text, maxDepth) ? null : JSON.parse(text);
    if (typeof message === "object" && message !== null && !Array.isArray(message)) {
      return { item: "message", message: message as Record<string, unknown>, bytes };
    }
  } catch {
    // Reported below.
  }
  return { item: "damaged", what: "unparsable", bytes };
}
