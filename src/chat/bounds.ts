/**
 * Keeps an agent's files within bounds: room is reserved ahead of the end of `out`, because an agent whose stdout meets a
 * full disk loses its answer; read bytes are given back; an agent that outruns us, or for which no room can be had, is
 * stopped until there is room; stderr is capped. Where fallocate(1) is missing nothing is reserved, and what was read is
 * given back by cutting the file while the agent is stopped.
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

/** A process that writes is stopped when its write is done; on a slow disk that takes a moment. */
const stoppedMs = 2_000;
const pollMs = 2;

/** True when one look found everything stopped: then nothing is written and nothing forks away. */
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
      // What feeds it, and what the watcher waits with.
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
  /** Room ahead of the end; 256 KiB saw four of four real agents through a full disk. */
  reserveBytes: number;
  /** An agent with more unread bytes than this is stopped, and continues below a quarter of it. */
  unreadBytes: number;
  /** Read bytes are given back in pieces of at least this: each takes a process, or a moment in which the agent stands still. */
  punchBytes: number;
  errorBytes: number;
}

export const defaultLimits: Limits = {
  reserveBytes: mib,
  unreadBytes: 256 * mib,
  punchBytes: 8 * mib,
  errorBytes: 4 * mib,
};

/** An agent that uses its reserve up faster than this gets so much more at once, and that is renewed as much earlier. */
const hurriedMs = 1_000;
const hurriedFactor = 16;
/** A file of this name says that the agent was stopped by us, also to the next daemon. */
const pausedFile = "paused";
const errorsEveryMs = 10_000;
const blockBytes = 4096;
/** Starting a process takes milliseconds in which nothing else is done: so seldom, however fast an agent writes. */
const punchEveryMs = 1_000;
/** An agent that was in the middle of a line, or did not stop at once, is let continue so long before the next attempt. */
const cutRetryMs = 100;

export interface BoundsParts {
  limits: Limits;
  log: Logger;
  fallocate: string;
  /** Reads the rest of a stopped agent's file and cuts it; false when its last line is not complete. */
  truncate: (proc: AgentProcess) => Promise<boolean>;
}

export class Bounds {
  readonly #limits: Limits;
  readonly #log: Logger;
  readonly #parts: BoundsParts;
  /** Null until it was tried. */
  #hasFallocate: boolean | null = process.platform === "linux" ? null : false;

  constructor(parts: BoundsParts) {
    this.#parts = parts;
    this.#limits = parts.limits;
    this.#log = parts.log;
  }

  /** Called with each check a file. Does nothing for the idle. */
  look(proc: AgentProcess, size: number, active: boolean): void {
    const { bounds } = proc;
    if (bounds.busy || isBeingCut(proc)) return;
    const unread = size - proc.fed;
    if (bounds.paused ? unread < this.#limits.unreadBytes / 4 : unread > this.#limits.unreadBytes) {
      return this.#run(proc, () => (bounds.paused ? this.#resume(proc) : this.#pause(proc, "too much unread")));
    }
    const canGiveBack = proc.read - bounds.punchedTo >= this.#limits.punchBytes;
    // What was read is given back also when the agent has become idle meanwhile.
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

  /** An agent that we stopped may have been left so by an earlier daemon. */
  adopt(proc: AgentProcess): void {
    // Not by join(), as in agent-files.ts.
    proc.bounds.paused = existsSync(`${proc.directory}/${pausedFile}`);
  }

  #run(proc: AgentProcess, work: () => Promise<void>): void {
    proc.bounds.busy = true;
    work()
      .catch((error: unknown) =>
        this.#log.warn("keeping an agent's files within bounds failed", { session: proc.session, error }),
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
    // Another reason (a file system without it) stays so: asked again when the file has grown that much.
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

  /** A crash in here leaves the file that says so, and the next daemon lets the agent continue. */
  async #cut(proc: AgentProcess): Promise<void> {
    const { bounds } = proc;
    writeFileSync(join(proc.directory, pausedFile), "", { mode: 0o600 });
    bounds.paused = true;
    try {
      const done = (await stopTree(proc)) && (await this.#parts.truncate(proc));
      if (!done) bounds.giveBackNotBefore = performance.now() + cutRetryMs;
    } finally {
      await this.#goOn(proc);
    }
  }

  async #pause(proc: AgentProcess, why: string): Promise<void> {
    proc.bounds.paused = true;
    await stopTree(proc);
    this.#log.warn("an agent is stopped until there is room", { session: proc.session, why });
    // Last: there may be no room for it. A daemon that does not find it lets the agent continue, and then comes here again.
    writeFileSync(join(proc.directory, pausedFile), "", { mode: 0o600 });
  }

  async #resume(proc: AgentProcess): Promise<void> {
    if (isFull(proc.directory, this.#limits.reserveBytes)) return;
    await this.#goOn(proc);
    proc.bounds.reservedTo = 0;
    this.#log.info("an agent goes on", { session: proc.session });
  }

  async #goOn(proc: AgentProcess): Promise<void> {
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
      execFile(this.#parts.fallocate, args, (error) => {
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
