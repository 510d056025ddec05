/**
 * A session's screen for somebody who watches from afar: a tmux client of its own on a pseudo-terminal, so that tmux paints
 * the complete screen for each one who comes. What is typed goes to that client, and so to no other session than the one that
 * tmux itself says the client is attached to.
 */
import type { TerminalView, ViewEnd, ViewRequest } from "../ports/runtime.ts";
import { whyNotStarted } from "../base/run.ts";
import { HoldfastError } from "../contract/errors.ts";
import type { LaunchId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import { expectedLaunch } from "../model/runs.ts";
import { listPanes } from "./panes.ts";
import { PtyClient } from "./pty-client.ts";
import type { Tmux } from "./tmux.ts";

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
    const pane = list.panes.find((each) => each.session === session.id && each.launch === launch && !each.dead);
    if (launch === null || pane === undefined) throw notShown(session, "its agent is not running");
    const failed = (error: unknown): never => {
      throw error instanceof HoldfastError ? error : notShown(session, whyNotStarted(error));
    };
    const { sessionTarget, paneTarget } = pane;
    const hold = (leaving: string | null): Promise<Hold> => holdSize(this.#tmux, sessionTarget, leaving);
    const held = request.readonly ? await hold(null).catch(failed) : null;
    const client = await PtyClient.start(this.#tmux, sessionTarget, { ...request, flags: sizeFlags(request) }).catch(
      async (error: unknown) => {
        await held?.release();
        return failed(error);
      },
    );
    const view = new View(client, launch, this.#tmux, { pane: paneTarget, hold, held });
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

/** A viewer that only watches does not size the window; among those who type, the latest one does. */
function sizeFlags({ readonly }: ViewRequest): string[] {
  return readonly ? ["ignore-size"] : [];
}

interface ViewPlace {
  pane: string;
  hold: (leaving: string | null) => Promise<Hold>;
  /** Of a viewer that only watches; null for one that types. */
  held: Hold | null;
}

class View implements TerminalView {
  readonly launch: LaunchId;
  readonly #client: PtyClient;
  readonly #tmux: Tmux;
  readonly #pane: string;
  readonly #hold: ViewPlace["hold"];
  #held: Hold | null;
  #releasing: Promise<void> = Promise.resolve();
  #name: string | null = null;
  #scrolled = false;
  #leaving: Promise<void> | null = null;
  #switching: Promise<void> = Promise.resolve();
  #switches = 0;
  #early: Buffer[] = [];
  #sink: { data(bytes: Buffer): void; end: ViewEnd } | null = null;

  constructor(client: PtyClient, launch: LaunchId, tmux: Tmux, { pane, hold, held }: ViewPlace) {
    this.launch = launch;
    this.#client = client;
    this.#tmux = tmux;
    this.#pane = pane;
    this.#hold = hold;
    this.#held = held;
    client.onData((bytes) => {
      if (this.#sink === null) this.#early.push(bytes);
      else this.#sink.data(bytes);
    });
    void client.gone.then(() => this.#ended());
  }

  #ended(): void {
    // Not earlier: a watcher alone would size the window.
    this.#release();
    this.#sink?.end("Its screen closed.");
  }

  /** By tmux's own word: which client this is, and that it is in the session of this launch. */
  async attached(): Promise<void> {
    const own = await this.#client.attached([everyKey]);
    if (own === null) throw new Error(`tmux printed: ${this.#output()}`);
    if (own.launch !== this.launch) throw new Error("another launch took its place");
    this.#name = own.name;
  }

  start(sink: { data(bytes: Buffer): void; end: ViewEnd }): void {
    this.#sink = sink;
    for (const bytes of this.#early.splice(0)) sink.data(bytes);
    if (this.#client.isGone) sink.end("Its screen closed.");
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
    this.#client.write(withoutPrefix(bytes));
  }

  resize(cols: number, rows: number): void {
    // Before tmux sets the flag, the size of this client counts.
    if (this.#switches > 0) void this.#switching.then(() => this.#client.resize(cols, rows));
    else this.#client.resize(cols, rows);
  }

  watchOnly(on: boolean): void {
    const name = this.#name;
    if (name === null || this.#client.isGone) return;
    this.#switches++;
    this.#switching = this.#switching
      // Without the hold a lone watcher would size the window; one that fails leaves it to the flag alone.
      .then(() => (on ? this.#keepSize(name) : undefined))
      // A client that has gone meanwhile is refused, which is as well.
      .then(() =>
        this.#tmux.run({ commands: [["refresh-client", "-t", name, "-f", on ? "ignore-size" : "!ignore-size"]] }),
      )
      .then(() => (on ? undefined : this.#release()))
      .catch(() => undefined)
      .finally(() => this.#switches--);
  }

  async #keepSize(name: string): Promise<void> {
    if (this.#held !== null) return;
    this.#held = await this.#hold(name).catch(() => null);
    if (this.#client.isGone) this.#release();
  }

  #release(): void {
    const held = this.#held;
    this.#held = null;
    if (held !== null) this.#releasing = held.release();
  }

  pause(): void {
    this.#client.pause();
  }

  resume(): void {
    this.#client.resume();
  }

  onGone(listener: () => void): void {
    void this.#client.gone.then(listener);
  }

  close(): void {
    void this.closed();
  }

  /** Until the client has ended: nothing of a viewer stays behind. */
  async closed(): Promise<void> {
    this.#sink = { data: () => undefined, end: () => undefined };
    await this.#client.end();
    await this.#switching;
    await this.#releasing;
  }

  #output(): string {
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

interface Hold {
  /** Resolves once its client has exited. */
  release(): Promise<void>;
}

/** @param leaving a client that types and is about to only watch: its own size does not count. */
async function holdSize(tmux: Tmux, target: string, leaving: string | null): Promise<Hold> {
  const size = await sizeWithout(tmux, target, leaving);
  const client = await PtyClient.start(tmux, target, { ...size, flags: ["read-only"] });
  client.onData(() => undefined);
  try {
    if ((await client.attached()) === null) throw new Error("tmux did not attach");
  } catch (error) {
    await client.end();
    throw error;
  }
  return { release: () => client.end() };
}

/** The size of the client that typed last, or the window's current size. */
async function sizeWithout(
  tmux: Tmux,
  target: string,
  leaving: string | null,
): Promise<{ cols: number; rows: number }> {
  const client = "#{client_name}\t#{client_width}\t#{client_height}\t#{client_activity}\t#{client_flags}";
  const reply = await tmux.run({
    commands: [
      ["display-message", "-p", "-t", target, "#{window_width}\t#{window_height}"],
      ["list-clients", "-t", target, "-F", client],
    ],
  });
  if (reply.is !== "ok") throw new Error("tmux did not report the window's size");
  const [window = [], ...clients] = reply.stdout.split("\n").map((line) => line.split("\t"));
  const typing = clients
    .filter(([name, , , , flags = "read-only"]) => name !== leaving && !/ignore-size|read-only/.test(flags))
    .toSorted((one, other) => Number(other[3]) - Number(one[3]));
  const [cols, rows] = leaving === null || typing[0] === undefined ? window : typing[0].slice(1);
  return { cols: Number(cols), rows: Number(rows) };
}
