/**
 * Limits the disk space of an agent's files: space is reserved ahead of the end of `out`, because an agent that writes to
 * a full disk loses its response; read bytes are freed; an agent is paused while too much is unread or the disk is full;
 * stderr is capped. Without fallocate(1) nothing is reserved, and read bytes are freed by truncating the file while the
 * agent is paused.
 */
import { execFile } from "node:child_process";
import { existsSync, openSync, closeSync, constants, ftruncateSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "../ports/api.ts";
import { isBeingCut } from "./agent-output.ts";
import { type AgentProcess, firstsOf, recordedIdentities } from "./agent-process.ts";
import { fileSize, readPids } from "./agent-files.ts";
import { setTimeout as delay } from "node:timers/promises";
import { readStat, signalIdentity, type Identity } from "../base/pid.ts";
import { findTree } from "../base/process-tree.ts";
import { launchMarker } from "../contract/worker-record.ts";

/** A writing process stops only when its write is done, which takes a moment on a slow disk. */
const stoppedMs = 2_000;
const pollMs = 2;

/** True once one check found everything stopped: then nothing is written and nothing forks away. */
async function stopTree(proc: AgentProcess): Promise<boolean> {
  const until = performance.now() + stoppedMs;
  for (;;) {
    const awake = (await agentTree(proc)).filter(({ pid }) => !isStopped(pid));
    if (awake.length === 0) return true;
    for (const identity of awake) signalIdentity(identity, "SIGSTOP");
    if (performance.now() >= until) return false;
    await delay(pollMs);
  }
}

async function continueTree(proc: AgentProcess): Promise<void> {
  for (const identity of await agentTree(proc)) signalIdentity(identity, "SIGCONT");
}

async function agentTree(proc: AgentProcess): Promise<Identity[]> {
  const { keeper, feeder, watcher } = readPids(proc.directory);
  const members = await findTree({
    roots: recordedIdentities(proc.record),
    marker: { name: launchMarker, values: [proc.launch] },
    cgroups: [proc.record.cgroup ?? []].flat(),
    ...firstsOf([proc.record]),
  });
  return members
    .map(({ identity }) => identity)
    .filter(({ pid }) => {
      if (pid === keeper || pid === feeder || pid === watcher) return false;
      // The feeder's `cat` and the watcher's `sleep`.
      const parent = readStat(pid)?.parent ?? null;
      return parent === null || (parent !== feeder && parent !== watcher);
    });
}

function isStopped(pid: number): boolean {
  const state = readStat(pid)?.state ?? "X";
  return state === "T" || state === "t" || state === "Z" || state === "X";
}

const kib = 1024;
const mib = 1024 * kib;

export interface Limits {
  /** Space ahead of the end; 256 KiB was enough for four of four real agents on a full disk. */
  reserveBytes: number;
  /** An agent with more unread bytes than this is stopped, and continues below a quarter of it. */
  unreadBytes: number;
  /** Read bytes are freed in pieces of at least this: each takes a process, or pauses the agent. */
  punchBytes: number;
  errorBytes: number;
}

export const defaultLimits: Limits = {
  reserveBytes: mib,
  unreadBytes: 256 * mib,
  punchBytes: 8 * mib,
  errorBytes: 4 * mib,
};

/** An agent that uses up its reserve faster than this gets this many times more. */
const hurriedMs = 1_000;
const hurriedFactor = 16;
/** Its existence means that we paused the agent, also to the next daemon. */
const pausedFile = "paused";
const errorsEveryMs = 10_000;
const blockBytes = 4096;
/** Starting a process blocks for milliseconds: not more often than this, however fast an agent writes. */
const punchEveryMs = 1_000;
/** Until the next attempt if the agent was in the middle of a line or did not stop immediately. */
const cutRetryMs = 100;

export interface BoundsOptions {
  limits: Limits;
  log: Logger;
  fallocate: string;
  /** Reads the rest of a paused agent's file and truncates it; false if its last line is incomplete. */
  truncate: (proc: AgentProcess) => Promise<boolean>;
}

export class Bounds {
  readonly #limits: Limits;
  readonly #log: Logger;
  readonly #options: BoundsOptions;
  /** Null until it was tried once. */
  #hasFallocate: boolean | null = process.platform === "linux" ? null : false;

  constructor(options: BoundsOptions) {
    this.#options = options;
    this.#limits = options.limits;
    this.#log = options.log;
  }

  /** Called with the file's size at each check. Does nothing for idle agents. */
  check(proc: AgentProcess, size: number, active: boolean): void {
    const { bounds } = proc;
    if (bounds.busy || isBeingCut(proc)) return;
    const unread = size - proc.fed;
    if (bounds.paused ? unread < this.#limits.unreadBytes / 4 : unread > this.#limits.unreadBytes) {
      return this.#run(proc, () => (bounds.paused ? this.#resume(proc) : this.#pause(proc, "too much unread")));
    }
    const canGiveBack = proc.read - bounds.punchedTo >= this.#limits.punchBytes;
    // Read bytes are freed even if the agent has become idle.
    if (!active && !canGiveBack) return;
    const margin = Math.max(bounds.reserved, this.#limits.reserveBytes) / 4;
    if (bounds.reservedTo - size < margin && this.#hasFallocate !== false) {
      return this.#run(proc, () => this.#reserve(proc, size));
    }
    if (canGiveBack && performance.now() >= bounds.giveBackNotBefore) {
      const canPunch = this.#hasFallocate !== false && !bounds.cannotPunch;
      return this.#run(proc, () => (canPunch ? this.#punch(proc) : this.#cut(proc)));
    }
    this.#capErrors(proc);
  }

  /** An earlier daemon may have left the agent paused. */
  adopt(proc: AgentProcess): void {
    // Not by join(), as in agent-files.ts.
    proc.bounds.paused = existsSync(`${proc.directory}/${pausedFile}`);
  }

  #run(proc: AgentProcess, work: () => Promise<void>): void {
    proc.bounds.busy = true;
    work()
      .catch((error: unknown) =>
        this.#log.warn("cannot limit the size of an agent's files", { session: proc.session, error }),
      )
      .finally(() => {
        proc.bounds.busy = false;
      });
  }

  async #reserve(proc: AgentProcess, size: number): Promise<void> {
    const { bounds } = proc;
    const { reserveBytes } = this.#limits;
    const hurried = performance.now() - bounds.renewedAt < hurriedMs;
    bounds.renewedAt = performance.now();
    for (const bytes of hurried ? [hurriedFactor * reserveBytes, reserveBytes] : [reserveBytes]) {
      const out = join(proc.directory, "out");
      const done = await this.#fallocate(["-n", "-o", String(size), "-l", String(bytes), out]);
      bounds.reserved = bytes;
      bounds.reservedTo = size + bytes;
      if (done === "done") return;
    }
    // Other reasons, such as an unsupported file system, do not pass: tried again when the file has grown that much.
    if (!isFull(proc.directory, reserveBytes)) return;
    bounds.reservedTo = 0;
    await this.#pause(proc, "no room");
  }

  async #punch(proc: AgentProcess): Promise<void> {
    const { bounds } = proc;
    const end = proc.read - (proc.read % blockBytes);
    const range = ["-o", String(bounds.punchedTo), "-l", String(end - bounds.punchedTo)];
    const done = await this.#fallocate(["-p", ...range, join(proc.directory, "out")]);
    if (done === "done") {
      bounds.punchedTo = end;
      bounds.giveBackNotBefore = performance.now() + punchEveryMs;
    } else bounds.cannotPunch = true;
  }

  /** After a crash in here the next daemon finds the file and lets the agent continue. */
  async #cut(proc: AgentProcess): Promise<void> {
    const { bounds } = proc;
    writeFileSync(join(proc.directory, pausedFile), "", { mode: 0o600 });
    bounds.paused = true;
    try {
      const done = (await stopTree(proc)) && (await this.#options.truncate(proc));
      if (!done) bounds.giveBackNotBefore = performance.now() + cutRetryMs;
    } finally {
      await this.#continue(proc);
    }
  }

  async #pause(proc: AgentProcess, why: string): Promise<void> {
    proc.bounds.paused = true;
    await stopTree(proc);
    this.#log.warn("agent paused until there is disk space", { session: proc.session, why });
    // Last, because the disk may be full. Without it the next daemon lets the agent continue, and pauses it again.
    writeFileSync(join(proc.directory, pausedFile), "", { mode: 0o600 });
  }

  async #resume(proc: AgentProcess): Promise<void> {
    if (isFull(proc.directory, this.#limits.reserveBytes)) return;
    await this.#continue(proc);
    proc.bounds.reservedTo = 0;
    this.#log.info("agent continues", { session: proc.session });
  }

  async #continue(proc: AgentProcess): Promise<void> {
    await continueTree(proc);
    rmSync(join(proc.directory, pausedFile), { force: true });
    proc.bounds.paused = false;
  }

  /** Truncating is safe because the agent appends: its next line starts at the new end. */
  #capErrors(proc: AgentProcess): void {
    const now = performance.now();
    if (now - proc.bounds.errorsAt < errorsEveryMs) return;
    proc.bounds.errorsAt = now;
    const path = join(proc.directory, "err");
    if ((fileSize(path) ?? 0) <= this.#limits.errorBytes) return;
    this.#run(proc, async () => {
      const file = openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW);
      try {
        ftruncateSync(file, 0);
      } finally {
        closeSync(file);
      }
    });
  }

  async #fallocate(args: string[]): Promise<"done" | "failed" | "missing"> {
    if (this.#hasFallocate === false) return "missing";
    return new Promise((resolve) => {
      execFile(this.#options.fallocate, args, (error) => {
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
