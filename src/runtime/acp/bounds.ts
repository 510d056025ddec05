/**
 * Keeps an agent's files within bounds: room is reserved ahead of the end of `out`, because an agent whose stdout meets a
 * full disk loses its answer; read bytes are given back; an agent that outruns us, or for which no room can be had, is
 * stopped until there is room; stderr is capped. Where fallocate(1) is missing the bounds are softer.
 */
import { execFile } from "node:child_process";
import { existsSync, openSync, closeSync, constants, ftruncateSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { signalIdentity } from "../../base/pid.ts";
import { findTree } from "../../base/process-tree.ts";
import type { Logger } from "../../ports/commands.ts";
import { identityOf, type Worker } from "./worker.ts";
import { fileSize } from "./worker-files.ts";

const kib = 1024;
const mib = 1024 * kib;

export interface Limits {
  /** Room ahead of the end; 256 KiB saw four of four real agents through a full disk. */
  reserveBytes: number;
  /** An agent with more unread bytes than this is stopped, and goes on below a quarter of it. */
  unreadBytes: number;
  /** Read bytes are given back in pieces of at least this: each takes a process. */
  punchBytes: number;
  errorBytes: number;
}

export const defaultLimits: Limits = {
  reserveBytes: mib,
  unreadBytes: 256 * mib,
  punchBytes: 8 * mib,
  errorBytes: 4 * mib,
};

/** An agent that uses its reserve up faster than this gets sixteen times as much at once. */
const hurriedMs = 1_000;
/** A file of this name says that the agent was stopped by us, also to the next daemon. */
const pausedFile = "paused";
const errorsEveryMs = 10_000;
const blockBytes = 4096;

export class Bounds {
  readonly #limits: Limits;
  readonly #log: Logger;
  /** Null until it was tried. */
  #hasFallocate: boolean | null = process.platform === "linux" ? null : false;

  constructor(limits: Limits, log: Logger) {
    this.#limits = limits;
    this.#log = log;
  }

  /** Called with each look at a file. Does nothing for the idle. */
  look(worker: Worker, size: number, active: boolean): void {
    const { bounds } = worker;
    if (bounds.busy) return;
    const unread = size - worker.fed;
    if (bounds.paused ? unread < this.#limits.unreadBytes / 4 : unread > this.#limits.unreadBytes) {
      return this.#run(worker, () =>
        bounds.paused ? this.#resume(worker, size) : this.#pause(worker, "too much unread"),
      );
    }
    if (!active) return;
    if (bounds.reservedTo - size < this.#limits.reserveBytes / 4 && this.#hasFallocate !== false) {
      return this.#run(worker, () => this.#reserve(worker, size));
    }
    if (worker.read - bounds.punchedTo >= this.#limits.punchBytes && this.#hasFallocate !== false) {
      return this.#run(worker, () => this.#punch(worker));
    }
    this.#capErrors(worker);
  }

  /** An agent that we stopped may have been left so by an earlier daemon. */
  adopt(worker: Worker): void {
    worker.bounds.paused = existsSync(join(worker.directory, pausedFile));
  }

  #run(worker: Worker, work: () => Promise<void>): void {
    worker.bounds.busy = true;
    work()
      .catch((error: unknown) =>
        this.#log.warn("keeping an agent's files within bounds failed", { session: worker.session, error }),
      )
      .finally(() => {
        worker.bounds.busy = false;
      });
  }

  async #reserve(worker: Worker, size: number): Promise<void> {
    const { bounds } = worker;
    const hurried = performance.now() - bounds.renewedAt < hurriedMs;
    const bytes = this.#limits.reserveBytes * (hurried ? 16 : 1);
    const done = await this.#fallocate(["-n", "-o", String(size), "-l", String(bytes), join(worker.directory, "out")]);
    bounds.renewedAt = performance.now();
    if (done === "done") bounds.reservedTo = size + bytes;
    else if (done === "failed" && isFull(worker.directory, this.#limits.reserveBytes))
      await this.#pause(worker, "no room");
    // Another reason (a file system without it) stays so: asked again when the file has grown that much.
    else bounds.reservedTo = size + bytes;
  }

  async #punch(worker: Worker): Promise<void> {
    const { bounds } = worker;
    const end = worker.read - (worker.read % blockBytes);
    const range = ["-o", String(bounds.punchedTo), "-l", String(end - bounds.punchedTo)];
    await this.#fallocate(["-p", ...range, join(worker.directory, "out")]);
    bounds.punchedTo = end;
  }

  async #pause(worker: Worker, why: string): Promise<void> {
    writeFileSync(join(worker.directory, pausedFile), "", { mode: 0o600 });
    worker.bounds.paused = true;
    this.#log.warn("an agent is stopped until there is room", { session: worker.session, why });
    await this.#signalAgent(worker, "SIGSTOP");
  }

  async #resume(worker: Worker, size: number): Promise<void> {
    if (isFull(worker.directory, this.#limits.reserveBytes)) return;
    await this.#signalAgent(worker, "SIGCONT");
    rmSync(join(worker.directory, pausedFile), { force: true });
    worker.bounds.paused = false;
    worker.bounds.reservedTo = Math.min(worker.bounds.reservedTo, size);
    this.#log.info("an agent goes on", { session: worker.session });
  }

  /** The agent and what it started; keeper and feeder stay awake. */
  async #signalAgent(worker: Worker, signal: "SIGSTOP" | "SIGCONT"): Promise<void> {
    const { agent } = worker.record;
    if (agent === null) return;
    const members = await findTree({ roots: [identityOf(worker.record, agent)], marker: null });
    for (const { identity } of members) signalIdentity(identity, signal);
  }

  /** Truncating is safe because the agent appends: its next line starts at the new end. */
  #capErrors(worker: Worker): void {
    const now = performance.now();
    if (now - worker.bounds.errorsAt < errorsEveryMs) return;
    worker.bounds.errorsAt = now;
    const path = join(worker.directory, "err");
    if ((fileSize(path) ?? 0) <= this.#limits.errorBytes) return;
    const file = openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW);
    try {
      ftruncateSync(file, 0);
    } finally {
      closeSync(file);
    }
  }

  async #fallocate(args: string[]): Promise<"done" | "failed" | "missing"> {
    if (this.#hasFallocate === false) return "missing";
    return new Promise((resolve) => {
      execFile("fallocate", args, (error) => {
        if ((error as NodeJS.ErrnoException | null)?.code === "ENOENT") this.#hasFallocate = false;
        else this.#hasFallocate = true;
        resolve(error === null ? "done" : this.#hasFallocate ? "failed" : "missing");
      });
    });
  }
}

function isFull(directory: string, bytes: number): boolean {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize < bytes;
}
