/** A tmux client on a pseudo-terminal: what shows a screen to a viewer, and what keeps a window's size. */
import type * as NodePty from "@lydell/node-pty";
import type { IPty } from "@lydell/node-pty";
import { setTimeout as delay } from "node:timers/promises";
import { identify, signalIdentity } from "../base/pid.ts";
import type { Identity } from "../base/pid.ts";
import { HoldfastError } from "../contract/errors.ts";
import { launchOption } from "./panes.ts";
import type { Tmux } from "./tmux.ts";

/** A client that is not attached by then never will be; a busy machine takes a second. */
const attachDeadlineMs = 10_000;
const attachPollMs = 10;
/** How long a client may take to exit: it waits for its server, which may be stopped. */
const leaveMs = 1_000;

/** Without an encoding it reads and writes bytes; its types know only text. */
interface Pty extends Omit<IPty, "write" | "onData"> {
  onData(listener: (bytes: Buffer) => void): void;
  write(bytes: Buffer): void;
  on(event: "error", listener: (error: Error) => void): void;
}

export interface ClientOptions {
  cols: number;
  rows: number;
  /** tmux's client flags. */
  flags: readonly string[];
}

export class PtyClient {
  readonly #tmux: Tmux;
  readonly #pty: Pty;
  readonly #identity: Identity | null;
  readonly gone: Promise<void>;
  #isGone = false;

  private constructor(tmux: Tmux, pty: Pty) {
    this.#tmux = tmux;
    this.#pty = pty;
    this.#identity = identify(pty.pid);
    this.gone = new Promise((resolve) => {
      pty.onExit(() => {
        this.#isGone = true;
        resolve();
      });
    });
  }

  static async start(tmux: Tmux, target: string, { cols, rows, flags }: ClientOptions): Promise<PtyClient> {
    const { spawn } = await loadPty();
    const given = flags.length === 0 ? [] : ["-f", flags.join(",")];
    const { file, args, env } = tmux.clientCommand(["attach-session", ...given, "-t", target]);
    const pty = spawn(file, args, { cols, rows, env, cwd: "/", encoding: null }) as unknown as Pty;
    // Without a listener a failed write would throw and end the daemon. The client's exit is enough to know.
    pty.on("error", () => undefined);
    return new PtyClient(tmux, pty);
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  onData(listener: (bytes: Buffer) => void): void {
    this.#pty.onData(listener);
  }

  /** Resolves with its name and launch once tmux lists it; null if it exits first. */
  async attached(before: readonly string[][] = []): Promise<{ name: string; launch: string } | null> {
    const until = performance.now() + attachDeadlineMs;
    const format = ["client_pid", "client_name", launchOption].map((field) => `#{${field}}`).join("\t");
    while (!this.#isGone && performance.now() < until) {
      const reply = await this.#tmux.run({ commands: [...before, ["list-clients", "-F", format]] });
      const lines = reply.is === "ok" ? reply.stdout.split("\n").map((line) => line.split("\t")) : [];
      const own = lines.find(([pid]) => Number(pid) === this.#pty.pid);
      if (own !== undefined) return { name: own[1] ?? "", launch: own[2] ?? "" };
      await delay(attachPollMs);
    }
    if (this.#isGone) return null;
    throw new Error("tmux did not attach");
  }

  write(bytes: Buffer): void {
    if (!this.#isGone) this.#pty.write(bytes);
  }

  resize(cols: number, rows: number): void {
    if (this.#isGone) return;
    try {
      this.#pty.resize(cols, rows);
    } catch {
      // The client has just exited.
    }
  }

  pause(): void {
    if (!this.#isGone) this.#pty.pause();
  }

  resume(): void {
    if (!this.#isGone) this.#pty.resume();
  }

  /** Resolves once it has exited. */
  async end(): Promise<void> {
    const identity = this.#identity;
    if (this.#isGone || identity === null) return;
    // A paused one would not report its exit.
    this.#pty.resume();
    signalIdentity(identity, "SIGHUP");
    const kill = setTimeout(() => signalIdentity(identity, "SIGKILL"), leaveMs);
    await this.gone;
    clearTimeout(kill);
  }
}

/** Only terminal viewers need it. It is an optional package: not every machine has a build of it. */
async function loadPty(): Promise<typeof NodePty> {
  try {
    return await import("@lydell/node-pty");
  } catch (cause) {
    throw new HoldfastError("conflict", "Screens cannot be shown here: the package @lydell/node-pty is missing.", {
      hint: "Install Holdfast again without --omit=optional, or use `holdfast attach`.",
      cause,
    });
  }
}
