/**
 * A session's screen for somebody who watches from afar: a tmux client of its own on a pseudo-terminal, so that tmux paints
 * the whole screen for each one who comes. What is typed goes to that client, and so to no other session than the one that
 * tmux itself says the client is attached to.
 */
import type * as NodePty from "@lydell/node-pty";
import type { IPty } from "@lydell/node-pty";
import { setTimeout as delay } from "node:timers/promises";
import { identify, signalIdentity } from "../../base/pid.ts";
import type { Identity } from "../../base/pid.ts";
import type { TerminalView, ViewEnd, ViewRequest } from "../../ports/runtime.ts";
import { whyNotStarted } from "../../base/start-child.ts";
import { HoldfastError } from "../../protocol/error.ts";
import type { LaunchId } from "../../protocol/ids.ts";
import type { SessionState } from "../../protocol/session.ts";
import { expectedLaunch } from "./observe.ts";
import { holdSize } from "./hold-size.ts";
import { launchOption, listPanes } from "./panes.ts";
import type { Tmux } from "./tmux.ts";

/** A busy machine starts a client within a second; one that is not attached by then never will be. */
const attachDeadlineMs = 10_000;
const attachPollMs = 10;
/** A client that was told to go waits for its server's word, which a stopped server does not give. */
const leaveMs = 1_000;

/** Without an encoding it takes and gives bytes; its types know only text. */
interface Pty extends Omit<IPty, "write" | "onData"> {
  onData(listener: (bytes: Buffer) => void): void;
  write(bytes: Buffer): void;
  on(event: "error", listener: (error: Error) => void): void;
}

export class Views {
  readonly #tmux: Tmux;
  readonly #open = new Set<View>();

  constructor(tmux: Tmux) {
    this.#tmux = tmux;
  }

  async open(session: SessionState, request: ViewRequest): Promise<TerminalView> {
    const launch = expectedLaunch(session);
    const list = await listPanes(this.#tmux);
    if (list.is === "unknown") throw notShown(session, `tmux could not be asked: ${list.why}`);
    const panes = list.is === "known" ? list.panes : [];
    const pane = panes.find((each) => each.session === session.id && each.launch === launch && !each.dead);
    if (launch === null || pane === undefined) throw notShown(session, "its agent is not running");
    const failed = (error: unknown): never => {
      throw error instanceof HoldfastError ? error : notShown(session, whyNotStarted(error));
    };
    const hold = (): Promise<() => void> => holdSize(this.#tmux, pane.sessionTarget);
    const release = request.readonly ? await hold().catch(failed) : null;
    const pty = await startClient(this.#tmux, pane.sessionTarget, request).catch((error: unknown) => {
      release?.();
      return failed(error);
    });
    const view = new View(pty, launch, this.#tmux, { pane: pane.paneTarget, hold, release });
    this.#open.add(view);
    view.onGone(() => this.#open.delete(view));
    try {
      await view.attached();
    } catch (error) {
      view.close();
      throw error instanceof HoldfastError ? error : notShown(session, String(error));
    }
    return view;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open].map((view) => view.closed()));
  }
}

function notShown(session: SessionState, why: string): HoldfastError {
  return new HoldfastError("conflict", `The screen of ${session.id} cannot be shown: ${why}.`, {
    hint: `See \`holdfast session show ${session.id}\`.`,
  });
}

async function startClient(tmux: Tmux, target: string, { cols, rows, readonly }: ViewRequest): Promise<Pty> {
  const { spawn } = await loadPty();
  const { file, args, env } = tmux.clientCommand(["attach-session", ...sizeFlags(readonly), "-t", target]);
  const pty = spawn(file, args, { cols, rows, env, cwd: "/", encoding: null }) as unknown as Pty;
  // Without a listener it would throw what goes wrong with a write, and end the daemon; the client's end says enough.
  pty.on("error", () => undefined);
  return pty;
}

/** Only whoever looks at a terminal needs it; it comes with the package where there is a build of it for the machine. */
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

/** One who only watches takes the window as it is; among those who type, the last to do so gives it its size. */
function sizeFlags(readonly: boolean): string[] {
  return readonly ? ["-f", "ignore-size"] : [];
}

interface ViewPlace {
  pane: string;
  hold: () => Promise<() => void>;
  /** Ends the hold of one who only watches; null for one who types. */
  release: (() => void) | null;
}

class View implements TerminalView {
  readonly launch: LaunchId;
  readonly #pty: Pty;
  readonly #tmux: Tmux;
  readonly #pane: string;
  readonly #client: Identity | null;
  readonly #gone: Promise<void>;
  #isGone = false;
  #name: string | null = null;
  #scrolled = false;
  #leaving: Promise<void> | null = null;
  readonly #hold: () => Promise<() => void>;
  #release: (() => void) | null;
  #switching: Promise<void> = Promise.resolve();
  #switches = 0;
  #early: Buffer[] = [];
  #sink: { data(bytes: Buffer): void; end: ViewEnd } | null = null;

  constructor(pty: Pty, launch: LaunchId, tmux: Tmux, { pane, hold, release }: ViewPlace) {
    this.launch = launch;
    this.#pty = pty;
    this.#tmux = tmux;
    this.#pane = pane;
    this.#hold = hold;
    this.#release = release;
    this.#client = identify(pty.pid);
    pty.onData((bytes) => {
      if (this.#sink === null) this.#early.push(bytes);
      else this.#sink.data(bytes);
    });
    this.#gone = new Promise((resolve) => {
      pty.onExit(() => {
        this.#isGone = true;
        this.#release?.();
        this.#release = null;
        resolve();
        this.#sink?.end("Its screen closed.");
      });
    });
  }

  /** By tmux's own word: which client this is, and that it is in the session of this launch. */
  async attached(): Promise<void> {
    const until = performance.now() + attachDeadlineMs;
    const format = ["client_pid", "client_name", launchOption].map((field) => `#{${field}}`).join("\t");
    while (!this.#isGone && performance.now() < until) {
      const commands = [everyKey, ["list-clients", "-F", format]];
      const reply = await this.#tmux.run({ commands });
      const lines = reply.is === "ok" ? reply.stdout.split("\n").map((line) => line.split("\t")) : [];
      const own = lines.find(([pid]) => Number(pid) === this.#pty.pid);
      if (own !== undefined && own[2] !== this.launch) throw new Error("another launch took its place");
      if (own !== undefined) {
        this.#name = own[1] ?? null;
        return;
      }
      await delay(attachPollMs);
    }
    throw new Error(this.#isGone ? `tmux said: ${this.#said()}` : "tmux did not attach");
  }

  start(sink: { data(bytes: Buffer): void; end: ViewEnd }): void {
    this.#sink = sink;
    for (const bytes of this.#early.splice(0)) sink.data(bytes);
    if (this.#isGone) sink.end("Its screen closed.");
  }

  write(bytes: Buffer): void {
    const text = bytes.toString("latin1");
    if (wheelUp.test(text)) this.#scrolled = true;
    // Who scrolled back and then types means the agent; tmux would take the keys for its own.
    else if (this.#scrolled && !notTyped.test(text)) {
      this.#scrolled = false;
      this.#leaving = this.#leaveHistory();
    }
    if (this.#leaving === null) this.#send(bytes);
    else void this.#leaving.then(() => this.#send(bytes));
  }

  async #leaveHistory(): Promise<void> {
    if (this.#name !== null) await this.#tmux.run({ commands: [["copy-mode", "-q", "-t", this.#pane]] });
    this.#leaving = null;
  }

  #send(bytes: Buffer): void {
    if (!this.#isGone) this.#pty.write(withoutPrefix(bytes));
  }

  resize(cols: number, rows: number): void {
    // Before tmux sets the flag, the size of this client counts.
    if (this.#switches > 0) void this.#switching.then(() => this.#resize(cols, rows));
    else this.#resize(cols, rows);
  }

  #resize(cols: number, rows: number): void {
    if (this.#isGone) return;
    try {
      this.#pty.resize(cols, rows);
    } catch {
      // The client has just gone; its end is told by itself.
    }
  }

  watchOnly(on: boolean): void {
    const name = this.#name;
    if (name === null || this.#isGone) return;
    this.#switches++;
    this.#switching = this.#switching
      // Without the hold a lone watcher would size the window; one that fails leaves it to the flag alone.
      .then(() => (on ? this.#keepSize() : undefined))
      // A client that has gone meanwhile is refused, which is as well.
      .then(() =>
        this.#tmux.run({ commands: [["refresh-client", "-t", name, "-f", on ? "ignore-size" : "!ignore-size"]] }),
      )
      .then(() => (on ? undefined : this.#letSize()))
      .catch(() => undefined)
      .finally(() => this.#switches--);
  }

  async #keepSize(): Promise<void> {
    if (this.#release !== null) return;
    const release = await this.#hold().catch(() => null);
    if (this.#isGone) release?.();
    else this.#release = release;
  }

  #letSize(): void {
    this.#release?.();
    this.#release = null;
  }

  pause(): void {
    if (!this.#isGone) this.#pty.pause();
  }

  resume(): void {
    if (!this.#isGone) this.#pty.resume();
  }

  onGone(listener: () => void): void {
    void this.#gone.then(listener);
  }

  close(): void {
    void this.closed();
  }

  /** Until the client has ended: nothing of a viewer stays behind. */
  async closed(): Promise<void> {
    this.#sink = { data: () => undefined, end: () => undefined };
    if (this.#isGone || this.#client === null) return;
    // Whoever waits in `pause` would not see the end.
    this.#pty.resume();
    signalIdentity(this.#client, "SIGHUP");
    const kill = setTimeout(() => signalIdentity(this.#client!, "SIGKILL"), leaveMs);
    await this.#gone;
    clearTimeout(kill);
  }

  #said(): string {
    return Buffer.concat(this.#early).toString().replaceAll(settings, " ").trim().slice(-200);
  }
}

/** A turn of the wheel, and all else that a terminal says without a key: mouse reports, the focus come or gone. */
// oxlint-disable-next-line no-control-regex -- these are what terminals send
const wheelUp = /^\x1b\[<64;/;
// oxlint-disable-next-line no-control-regex -- these are what terminals send
const notTyped = /^\x1b\[(?:<\d|M|I$|O$)/;
/** What a client says before it ends is mixed with what sets a terminal up. */
// oxlint-disable-next-line no-control-regex -- these are what terminals are told
const settings = /\x1b\[[0-9;?]*[a-zA-Z]|[\x00-\x1f]+/g;

/** Keys that come quickly count as pasted and tmux then reads no prefix, or every other one. A server may be older than us. */
const everyKey = ["set-option", "-g", "assume-paste-time", "0"];

/** Ctrl-B as terminals write it, the two longer forms among those that tell keys apart. */
// oxlint-disable-next-line no-control-regex -- these are key codes
const prefixKey = /\x02|\x1b\[98;5u|\x1b\[27;5;98~/g;

/**
 * tmux's own commands are not for a page: with one of them a viewer would type into another session. Pressed twice the
 * prefix goes to the agent, so that its Ctrl-B works as in any terminal.
 */
export function withoutPrefix(bytes: Buffer): Buffer {
  const text = bytes.toString("latin1");
  const doubled = text.replaceAll(prefixKey, "\x02\x02");
  return doubled === text ? bytes : Buffer.from(doubled, "latin1");
}
