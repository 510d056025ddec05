/**
 * One launch of the real keeper under a given shell, in a directory of its own, as the daemon would start it.
 * `await using` ends everything that carries the launch's marker.
 */
import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
} from "node:fs";
import { readFileSync, readlinkSync, renameSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { readStat } from "../base/pid.ts";
import { homePrefix, homesDirectory } from "../../test/harness/home.ts";
import { endMarked, isRunning, markedProcesses } from "../../test/harness/marked.ts";
import { until } from "../../test/harness/until.ts";

export interface KeeperOptions {
  shell: readonly string[];
  command: readonly string[];
  /** Seconds between two looks of the watcher; unless told it never looks while a test runs. */
  tick?: number;
  ticks?: number;
  env?: Record<string, string>;
}

export interface Three {
  keeper: number;
  feeder: number;
  watcher: number;
}

export class KeeperWorld implements AsyncDisposable {
  readonly launch: string = randomUUID();
  readonly home: string;
  readonly directory: string;
  readonly record: string;
  readonly process: ChildProcess;
  #pids: Three | null = null;

  constructor(options: KeeperOptions) {
    this.home = mkdtempSync(join(homesDirectory, homePrefix(process.env["HOLDFAST_TEST_RUN"] ?? "keeper")));
    const session = join(this.home, "a 'quoted' $(session)");
    this.directory = join(session, this.launch);
    this.record = join(session, "record.json");
    mkdirSync(this.directory, { recursive: true, mode: 0o700 });
    for (const name of ["in", "out", "err"]) writeFileSync(this.path(name), "", { mode: 0o600 });
    const script = join(this.home, "keeper.sh");
    copyFileSync(new URL("keeper.sh", import.meta.url), script);
    this.writeRecord();
    const [shell, ...flags] = options.shell;
    this.process = spawn(
      shell!,
      [...flags, script, this.directory, this.record, this.launch, "--", ...options.command],
      { detached: true, stdio: "ignore", env: this.environment(options) },
    );
  }

  environment(options: Pick<KeeperOptions, "tick" | "ticks" | "env">): Record<string, string> {
    return {
      PATH: process.env["PATH"]!,
      HOLDFAST_TEST_RUN: process.env["HOLDFAST_TEST_RUN"] ?? "",
      HOLDFAST_LAUNCH: this.launch,
      HOLDFAST_KEEPER_TICK: String(options.tick ?? 300),
      ...(options.ticks === undefined ? {} : { HOLDFAST_KEEPER_TICKS: String(options.ticks) }),
      ...options.env,
    };
  }

  path(name: string): string {
    return join(this.directory, name);
  }

  read(name: string): string {
    return readFileSync(this.path(name), "utf8");
  }

  /** As the daemon does: complete, by rename. */
  writeRecord(over: Record<string, unknown> = {}): void {
    const record = { version: 1, session: "ma-1", launch: this.launch, restarting: false, ...over };
    writeFileSync(`${this.record}.new`, JSON.stringify(record));
    renameSync(`${this.record}.new`, this.record);
  }

  async pids(): Promise<Three> {
    return (this.#pids ??= await readThree(this.path("pids")));
  }

  async agent(): Promise<number> {
    return Number(
      await until("agent.pid", () => existsSync(this.path("agent.pid")) && /^\d+\n$/.exec(this.read("agent.pid"))?.[0]),
    );
  }

  async exit(deadlineMs?: number): Promise<number> {
    await until("exit", () => existsSync(this.path("exit")), deadlineMs);
    const text = this.read("exit");
    if (!/^[ \d]{3}\n$/.test(text)) throw new Error(`exit holds ${JSON.stringify(text)}`);
    return Number(text);
  }

  append(text: string): void {
    appendFileSync(this.path("in"), text);
  }

  ring(line: "r" | "q"): "rung" | "deaf" {
    try {
      const bell = openSync(this.path("bell"), constants.O_WRONLY | constants.O_NONBLOCK);
      writeSync(bell, `${line}\n`);
      closeSync(bell);
      return "rung";
    } catch (error) {
      // EPIPE: it went between the two.
      if (error instanceof Error && "code" in error && /^(ENXIO|EPIPE)$/.test(String(error.code))) return "deaf";
      throw error;
    }
  }

  async say(text: string): Promise<void> {
    await this.pids();
    this.append(text);
    this.ring("r");
  }

  async heard(text: string): Promise<void> {
    await until(`out to be ${JSON.stringify(text)}`, () => {
      const out = this.read("out");
      if (out === text) return true;
      throw new Error(JSON.stringify(out));
    });
  }

  /** Nothing of this launch runs anymore. */
  async gone(deadlineMs?: number): Promise<void> {
    await until(
      "the whole tree to be gone",
      () => {
        const left = markedProcesses(this.#marker);
        if (left.length === 0) return true;
        throw new Error(JSON.stringify(left));
      },
      deadlineMs,
    );
  }

  /** The watcher has looked so many times more: each look has a `sleep` of its own. */
  async looks(times: number): Promise<void> {
    const { watcher } = await this.pids();
    for (let seen = ""; times >= 0; times -= 1) {
      seen = await until("the next look", () => {
        const now = napOf(watcher);
        return now !== seen && now;
      });
    }
  }

  /** Makes the watcher look so many times, now. For a watcher that never looks on its own, so that nothing depends on when. */
  async look(times = 1): Promise<void> {
    const { watcher } = await this.pids();
    for (; times > 0; times -= 1) await lookNow(watcher);
  }

  /** Feeder and watcher do what they will do from now on; before, a signal may find them half made. */
  async settled(): Promise<void> {
    // Written last, when the agent's own files are open.
    await this.agent();
    const { feeder, watcher } = await this.pids();
    await until("the feeder to wait for the bell", () => {
      const opened = readlinkSync(`/proc/${feeder}/fd/1`).endsWith("/p");
      // Children on both sides: it also sleeps while it waits for one of them.
      return opened && childrenOf(feeder) === "" && stateOf(feeder) === "S" && childrenOf(feeder) === "";
    });
    await until("the watcher to sleep", () => napOf(watcher));
  }

  /** By force, and gone; the keeper is our child, so that it stays a zombie until the event loop gets a turn. */
  async kill(pid: number): Promise<void> {
    process.kill(pid, "SIGKILL");
    await until(`${pid} to be gone`, () => !isRunning(pid));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (let left = markedProcesses(this.#marker); left.length > 0; left = markedProcesses(this.#marker))
      await endMarked(left);
    rmSync(this.home, { recursive: true });
  }

  get #marker(): string {
    return `HOLDFAST_LAUNCH=${this.launch}`;
  }
}

/** "keeper feeder watcher\n", once it is complete. */
export async function readThree(file: string): Promise<Three> {
  const text = await until("pids", () => /^.*\n$/.exec(readFileSync(file, "utf8"))?.[0]);
  const [keeper, feeder, watcher] = text.trim().split(" ").map(Number);
  return { keeper: keeper!, feeder: feeder!, watcher: watcher! };
}

/** Ends the watcher's pause; over when it pauses again, or has gone permanently. */
export async function lookNow(watcher: number): Promise<void> {
  const nap = await until("the watcher to sleep", () => napOf(watcher));
  process.kill(Number(nap), "SIGKILL");
  await until("the next look", () => {
    if (!isRunning(watcher)) return true;
    const now = napOf(watcher);
    return now !== undefined && now !== nap;
  });
}

/** The `sleep` of the watcher's present tick. */
function napOf(watcher: number): string | undefined {
  return childrenOf(watcher)
    .split(" ")
    .find((pid) => pid !== "" && readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith("sleep"));
}

const childrenOf = (pid: number): string => readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
export const stateOf = (pid: number): string | undefined => readStat(pid)?.state;

/** In KiB: memory that would be free again without these processes. */
export function privateMemory(pids: readonly number[]): number {
  return pids
    .flatMap((pid) => [...readFileSync(`/proc/${pid}/smaps_rollup`, "utf8").matchAll(/^Private_\w+:\s+(\d+) kB$/gm)])
    .reduce((sum, match) => sum + Number(match[1]), 0);
}

/** bash is `sh` on some systems, busybox in small containers. KiB a session: what we promise; bash itself is larger. */
export const shells = [
  { shell: ["dash"], mostPrivate: 400 },
  { shell: ["bash", "--posix"], mostPrivate: 800 },
  { shell: ["busybox", "sh"], mostPrivate: 400 },
]
  .filter(({ shell }) => spawnSync(shell[0]!, ["-c", ":"]).error === undefined)
  .map((entry) => ({ ...entry, name: entry.shell.join(" ") }));

/** Answers each line, and says when its stdin has ended. */
export const echo = ["sh", "-c", 'while read -r line; do echo "got $line"; done; echo end'];
