/**
 * Reads the agents' output. The sizes of all `out` files are checked often while an agent works, and seldom otherwise.
 * The complete lines of one check are one batch, committed in one transaction with its offset: after a crash the next
 * daemon continues at the committed byte, and nothing is lost or repeated.
 */
import { closeSync, constants, openSync, readSync } from "node:fs";
import { parseObject } from "../base/attempt.ts";
import { isDeeperThan, LineSplitter } from "../base/lines.ts";
import type { OutputItem } from "../model/acp.ts";
import type { Ingest, Ingested } from "../ports/chat.ts";
import type { Logger } from "../ports/api.ts";
import type { SessionId } from "../contract/ids.ts";
import type { Bounds } from "./bounds.ts";
import { exists, type AgentProcess } from "./agent-process.ts";
import { fileSize } from "./agent-files.ts";

export const maxLineBytes = 32 * 1024 * 1024;
/** Deeper values cannot be serialized again, and no agent has a reason to send one. */
const maxDepth = 500;
const chunkBytes = 256 * 1024;
/** Limits the memory and the commit of one batch, however much was written meanwhile. Larger ones are not faster. */
const batchBytes = 1024 * 1024;
/** Until the next check while lines arrive; in an open turn without lines it grows to the second. */
const streamingMs = 3;
const quietTurnMs = 20;
/** How fast it grows: a response is found within a quarter of the time that it took. */
const slowing = 1.25;
/** Agents without a turn may still write, such as a new list of commands. */
const idleMs = 500;
const hotMs = 2_000;
/** Until a failed commit (a full disk) is tried again; the file still has its lines. */
const retryMs = 1_000;
/** An agent whose files were removed is replaced once they have been missing this long. */
export const lossMs = 10_000;

export interface OutputServices {
  ingest: Ingest;
  bounds: Bounds;
  /** Finishes a recorded truncation of the file; nothing may be read before. */
  settleCut(proc: AgentProcess): Promise<void>;
  /** Called after each commit. */
  ingested(proc: AgentProcess, result: Ingested): void;
  /** Whether a file is known to be removed; false if the disk gives no clear answer. */
  isRemoved(path: string): boolean;
  /** Called once when a running agent's files were removed: its output can no longer be read [CHAT-98]. */
  lost(proc: AgentProcess): void;
  /** Called once when an agent's process is gone: nothing else reports it before the next full check. */
  ended(proc: AgentProcess): void;
  log: Logger;
}

export class AgentOutput {
  readonly #services: OutputServices;
  readonly #processes = new Map<SessionId, AgentProcess>();
  readonly #buffer = Buffer.allocUnsafe(chunkBytes);
  #timer: NodeJS.Timeout | undefined;
  #dueAt = Infinity;
  #pause = quietTurnMs;
  #sweptAt = 0;
  #closed = false;

  constructor(services: OutputServices) {
    this.#services = services;
  }

  get(session: SessionId): AgentProcess | undefined {
    return this.#processes.get(session);
  }

  all(): Iterable<AgentProcess> {
    return this.#processes.values();
  }

  follow(proc: AgentProcess): void {
    this.#processes.set(proc.session, proc);
    this.#schedule(0);
  }

  unfollow(proc: AgentProcess): void {
    if (this.#processes.get(proc.session) === proc) this.#processes.delete(proc.session);
  }

  /** Something was sent or is expected: check often for a while. */
  expect(proc: AgentProcess): void {
    proc.hotUntil = performance.now() + hotMs;
    this.#pause = streamingMs;
    this.#schedule(streamingMs);
  }

  /** Reads to the end of the file as it is now. */
  async catchUp(proc: AgentProcess): Promise<void> {
    for (;;) {
      const before = proc.read;
      await this.#pump(proc);
      if (proc.read === before && (fileSize(outOf(proc)) ?? 0) <= proc.fed) return;
      if (proc.notBefore > performance.now()) throw new Error(`the output of ${proc.session} could not be stored`);
    }
  }

  /** Runs work while the file is not read. */
  async alone<T>(proc: AgentProcess, work: () => Promise<T>): Promise<T> {
    while (proc.pumping !== null) await proc.pumping;
    const running = work();
    proc.pumping = running
      .then(
        () => undefined,
        () => undefined,
      )
      .finally(() => {
        proc.pumping = null;
      });
    return running;
  }

  /** The last read, once nothing can write anymore: a last line without a newline is damaged. */
  async finish(proc: AgentProcess): Promise<void> {
    proc.notBefore = 0;
    await this.catchUp(proc);
    const bytes = proc.fed - proc.read;
    if (bytes > 0) await this.#commit(proc, [{ item: "damaged", what: "torn", bytes }], proc.fed);
    this.unfollow(proc);
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
    for (const proc of this.#processes.values()) {
      const isHot = proc.turnOpen || proc.waiting > 0 || proc.hotUntil > now;
      hot ||= isHot;
      if (everyone) this.#checkEnd(proc);
      if (!isHot && !everyone) continue;
      const size = fileSize(outOf(proc));
      if (everyone) this.#checkLoss(proc, size === null, now);
      if (size === null) continue;
      const mayRead = proc.pumping === null && proc.notBefore <= now;
      if (mayRead && (size !== proc.fed || isBeingCut(proc))) {
        found = true;
        proc.hotUntil = now + hotMs;
        void this.#pump(proc);
      }
      // Also while nothing can be stored: a disk that is full for us will be full for the agent.
      this.#services.bounds.check(proc, size, isHot || found);
    }
    this.#pause = found ? streamingMs : Math.min(this.#pause * slowing, quietTurnMs);
    if (this.#processes.size > 0) this.#schedule(hot || found ? this.#pause : idleMs);
  }

  /** By pid alone: the next full check detects a reused one. */
  #checkEnd(proc: AgentProcess): void {
    const { agent } = proc.record;
    if (agent === null || proc.endReported || exists(agent.pid)) return;
    proc.endReported = true;
    this.#services.ended(proc);
  }

  #checkLoss(proc: AgentProcess, mayBeGone: boolean, now: number): void {
    const isGone = mayBeGone && this.#services.isRemoved(outOf(proc));
    if (!seeLoss(proc, isGone, now) || proc.record.agent === null || !exists(proc.record.agent.pid)) return;
    proc.lossReported = true;
    this.#services.lost(proc);
  }

  /** Reads and commits one batch. Never throws: after a failure the lines are read again later. */
  #pump(proc: AgentProcess): Promise<void> {
    proc.pumping ??= this.#readAndCommit(proc)
      .catch((error: unknown) => {
        this.#services.log.warn("cannot store an agent's output; retrying", {
          session: proc.session,
          error,
        });
        this.#rewind(proc, proc.read);
        proc.notBefore = performance.now() + retryMs;
      })
      .finally(() => {
        proc.pumping = null;
      });
    return proc.pumping;
  }

  async #readAndCommit(proc: AgentProcess): Promise<void> {
    if (isBeingCut(proc)) await this.#services.settleCut(proc);
    const batch = this.#read(proc);
    if (batch.items.length === 0 && batch.to === proc.read) return;
    await this.#commit(proc, batch.items, batch.to);
    if (batch.more && !this.#closed) this.#schedule(0);
  }

  #read(proc: AgentProcess): { items: OutputItem[]; to: number; more: boolean } {
    const items: OutputItem[] = [];
    const size = fileSize(outOf(proc)) ?? proc.fed;
    if (size < proc.fed) {
      // A child that writes to /dev/stdout truncates the file: new output starts at its beginning.
      items.push({ item: "damaged", what: "shrunk", bytes: proc.fed - size });
      return { items, to: 0, more: size > 0 };
    }
    let to = proc.read;
    const until = Math.min(size, proc.fed + batchBytes);
    if (proc.fed >= until) return { items, to, more: false };
    proc.splitter ??= new LineSplitter(maxLineBytes, proc.fed);
    const file = openSync(outOf(proc), constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      while (proc.fed < until) {
        const wanted = Math.min(chunkBytes, until - proc.fed);
        const read = readSync(file, this.#buffer, 0, wanted, proc.fed);
        if (read === 0) break;
        proc.fed += read;
        for (const line of proc.splitter.push(this.#buffer.subarray(0, read))) {
          const bytes = line.end - to;
          to = line.end;
          if (line.line === "oversized") items.push({ item: "damaged", what: "oversized", bytes });
          else if (line.text.trim() !== "") items.push(parse(line.text, bytes));
        }
      }
    } finally {
      closeSync(file);
    }
    if (proc.splitter.pending === 0) proc.splitter = null;
    return { items, to, more: size > proc.fed };
  }

  async #commit(proc: AgentProcess, items: OutputItem[], to: number): Promise<void> {
    const { session, launch } = proc;
    const from = proc.read;
    const result = await this.#services.ingest({ session, launch, from, to, items });
    if (result.read !== to || to < from) this.#rewind(proc, result.read);
    proc.read = result.read;
    proc.turnOpen = result.state.turn.turn === "open";
    this.#services.ingested(proc, result);
  }

  #rewind(proc: AgentProcess, to: number): void {
    proc.read = to;
    proc.fed = to;
    proc.splitter = null;
  }
}

/** Whether an agent's files have been missing long enough to count as lost. */
export function seeLoss(
  proc: Pick<AgentProcess, "missingSince" | "lossReported">,
  isGone: boolean,
  now: number,
): boolean {
  if (!isGone) {
    proc.missingSince = null;
    proc.lossReported = false;
    return false;
  }
  proc.missingSince ??= now;
  return !proc.lossReported && now - proc.missingSince >= lossMs;
}

export function isBeingCut({ record }: AgentProcess): boolean {
  return (record.truncating ?? null) !== null;
}

export function outOf(proc: AgentProcess): string {
  return `${proc.directory}/out`;
}

function parse(text: string, bytes: number): OutputItem {
  const message = isDeeperThan(text, maxDepth) ? null : parseObject(text);
  return message === null ? { item: "damaged", what: "unparsable", bytes } : { item: "message", message, bytes };
}
