/** strace on a running daemon: kills it at the n-th call of a kind, or makes calls fail. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isRunning } from "../harness/marked.ts";
import { until } from "../harness/until.ts";

const detachMs = 700;

/** Why it cannot be used here, or null. */
export function withoutStrace(): string | null {
  const tried = spawnSync("strace", ["-o", "/dev/null", "-e", "trace=none", "true"], { stdio: "ignore" });
  return tried.status === 0 ? null : "strace cannot trace here";
}

export interface Injection {
  /** System calls, separated by commas. */
  calls: string;
  /** The injection, such as `signal=SIGKILL:when=3` or `error=EROFS`. */
  what: string;
  /** Also in everything that the daemon starts from now on: git, tmux, keepers. */
  children?: boolean;
}

/** Attached to every thread when it resolves. */
export async function attach(pid: number, injection: Injection): Promise<Tracer> {
  const { calls, what, children = false } = injection;
  const threads = readdirSync(`/proc/${pid}/task`);
  const targets = children ? ["-f", "-p", String(pid)] : threads.flatMap((thread) => ["-p", thread]);
  const output = join(tmpdir(), `torture-strace-${randomUUID()}`);
  const args = ["-q", "-o", output, ...targets, "-e", `trace=${calls}`, "-e", `inject=${calls}:${what}`];
  const child = spawn("strace", args, { stdio: "ignore" });
  const exited = once(child, "exit");
  await until(
    "strace to attach",
    () => child.exitCode !== null || !isRunning(pid) || threads.every((thread) => traced(pid, thread)),
    20_000,
  );
  return new Tracer(child, exited, output);
}

class Tracer {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #output: string;

  constructor(child: ChildProcess, exited: Promise<unknown>, output: string) {
    this.#child = child;
    this.#exited = exited;
    this.#output = output;
  }

  /**
   * Detaches from everything that still runs; returns whether a traced process was killed. strace itself may wait forever for a
   * thread that died while it detached, and a dead daemon needs no detaching.
   */
  async detach(dead: boolean): Promise<boolean> {
    const running = (): boolean => this.#child.exitCode === null && this.#child.signalCode === null;
    if (running()) this.#child.kill(dead ? "SIGKILL" : "SIGTERM");
    await Promise.race([this.#exited, delay(detachMs)]);
    if (running()) this.#child.kill("SIGKILL");
    await this.#exited;
    const killed = /killed by SIGKILL/.test(readFileSync(this.#output, "utf8"));
    rmSync(this.#output, { force: true });
    return killed || dead;
  }
}

function traced(pid: number, thread: string): boolean {
  try {
    return !/^TracerPid:\t0$/m.test(readFileSync(`/proc/${pid}/task/${thread}/status`, "utf8"));
  } catch {
    return true;
  }
}
