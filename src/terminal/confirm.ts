/**
 * What became of a prompt that was given to an agent: its hook or its transcript has it, or it is still on its way. An
 * Enter that the agent took for part of the paste is pressed again, at most twice and only while the input line holds
 * exactly this prompt; after that the prompt is taken out of the line, so that the next one is not joined to it.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Confirmation, SentPrompt } from "../ports/runtime.ts";
import type { SessionState } from "../model/session.ts";
import { holds, isCommand, same, endsAtCursor, captureScreens, isRaw } from "./screen.ts";
import type { ObserveContext } from "./observe.ts";
import { confirmsPrompts, showsReady, type LaunchWatch } from "./watch.ts";
import { identify } from "../base/pid.ts";
import { listPanes, paneFor, type Pane } from "./panes.ts";

export const pollMs = 25;

export interface ScreenCapture {
  pane: Pane;
  screen: string;
  /** What the agent's open dialog asks for; null if none is open. */
  dialog: string | null;
  /** Only text on the screen shows the dialog; neither hooks nor status file nor title. */
  isOnlyOnScreen: boolean;
  working: boolean;
}

export interface Typed {
  watch: LaunchWatch;
  pane: Pane;
  /** The screen now. Null when it has gone. */
  look(): Promise<ScreenCapture | null>;
  press(key: string): Promise<boolean>;
  /** Whether a text stands right before the cursor. */
  isAtCursor(text: string): Promise<boolean>;
}

/** A text is the reason why there is none. */
export async function findTyped(context: ObserveContext, session: SessionState): Promise<Typed | string> {
  const list = await listPanes(context.tmux);
  if (list.is === "unknown") return `tmux cannot be asked: ${list.why}`;
  const pane = paneFor(list.panes, session);
  const agent = pane === null || pane.dead ? null : identify(pane.pid);
  if (pane === null || agent === null) return "the agent does not run";
  const watch = context.watches.of(session, pane.launch);
  watch.process(agent);
  return {
    watch,
    pane,
    look: () => lookAt(context, watch, pane.paneTarget),
    press: async (key) =>
      (await context.tmux.run({ commands: [["send-keys", "-t", pane.paneTarget, key]] })).is === "ok",
    isAtCursor: async (text) => {
      const cursor = ["display-message", "-p", "-t", pane.paneTarget, "#{cursor_x} #{cursor_y}"];
      const reply = await context.tmux.run({ commands: [cursor, ["capture-pane", "-p", "-t", pane.paneTarget]] });
      if (reply.is !== "ok") return false;
      const [at = "", ...rows] = reply.stdout.split("\n");
      const [column = 0, row = 0] = at.split(" ").map(Number);
      return endsAtCursor(rows.slice(0, row + 1), column, text);
    },
  };
}

async function lookAt(context: ObserveContext, watch: LaunchWatch, target: string): Promise<ScreenCapture | null> {
  const [list, screens] = await Promise.all([listPanes(context.tmux), captureScreens(context.tmux, [target])]);
  const pane = list.panes.find((one) => one.paneTarget === target);
  const screen = screens.get(target);
  if (pane === undefined || pane.dead || screen === undefined || identify(pane.pid) === null) return null;
  watch.hooks.read();
  watch.sawScreen(pane, screen, Date.now());
  const seen = watch.activity(pane, Date.now());
  const isOpen = seen?.activity === "needs_input";
  const dialog = isOpen ? `${seen.reason ?? "the agent asks a question"} (answer it first)` : null;
  return { pane, screen, dialog, isOnlyOnScreen: seen?.source === "screen", working: seen?.activity === "working" };
}

/** A dialog hides the input line: if that contains our prompt, the dialog's text is part of the conversation. */
export function dialogOf({ dialog, isOnlyOnScreen }: ScreenCapture, hasPrompt: boolean): string | null {
  return isOnlyOnScreen && hasPrompt ? null : dialog;
}

const defaultConfirmMs = 20_000;
/** An Enter that was taken for part of the paste shows within this. */
const enterAgainMs = 5000;
const maxEnters = 3;
/** A command of the agent's own has no confirmation: after this what the screen shows counts. */
const commandMs = 3000;
/** Hooks come first: the transcript is read where they are late. */
const transcriptMs = 1500;
const transcriptEveryMs = 1000;
const maxClears = 40;

export async function confirm(
  context: ObserveContext,
  session: SessionState,
  prompt: SentPrompt,
  { finish }: { finish: boolean },
): Promise<Confirmation> {
  const typed = await findTyped(context, session);
  if (typeof typed !== "string" && typed.pane.launch === prompt.launch) {
    return new Confirming(typed, session, prompt).step(finish);
  }
  // Its last words may still be there.
  const watch = context.watches.of(session, prompt.launch);
  watch.hooks.read();
  if (isConfirmedByHook(watch, prompt)) return { is: "confirmed", by: "hook" };
  if (typeof typed === "string" && typed !== "the agent does not run") return { is: "waiting", why: typed };
  const read = watch.readPrompts(session.workspacePath, prompt.sentAt);
  return read.some((one) => same(one, prompt.text)) ? { is: "confirmed", by: "transcript" } : { is: "gone" };
}

export class Confirming {
  readonly #typed: Typed;
  readonly #session: SessionState;
  readonly #prompt: SentPrompt;
  #readAt = 0;
  /** The agent's input line is not known, and the prompt ends right before the cursor. */
  #isLeft = false;

  constructor(typed: Typed, session: SessionState, prompt: SentPrompt) {
    this.#typed = typed;
    this.#session = session;
    this.#prompt = prompt;
  }

  async step(finish = true): Promise<Confirmation> {
    const { watch } = this.#typed;
    const now = await this.#typed.look();
    watch.hooks.read();
    if (isConfirmedByHook(watch, this.#prompt)) return this.#confirmed("hook");
    const mayBeLeft = finish && watch.agent?.input === undefined && !this.#prompt.asArgument;
    this.#isLeft = mayBeLeft && (await this.#typed.isAtCursor(this.#prompt.text));
    const dialog = now === null ? null : dialogOf(now, this.#isInLine());
    // Under a dialog there is no input line: what looks like one is the prompt in the conversation.
    if ((dialog !== null || !this.#isInLine()) && this.#isInTranscript()) return this.#confirmed("transcript");
    if (now === null) return { is: "gone" };
    if (finish && this.#ranCommand()) return this.#confirmed("screen");
    if (finish && this.#wasCompleted()) {
      return (await isRaw(now.pane.tty)) === false ? { is: "doubtful", why: onlyEcho } : this.#confirmed("screen");
    }
    if (dialog !== null) return { is: "waiting", why: dialog };
    if (this.#prompt.asArgument && showsReady(watch.agent) && !watch.isReady && !this.#isInLine()) return starting;
    const isLine = watch.agent?.input !== undefined || this.#isLeft;
    return finish && isLine ? this.#byLine(now) : this.#orDoubt(now);
  }

  async #byLine(now: ScreenCapture): Promise<Confirmation> {
    const { watch } = this.#typed;
    const { promptId, text } = this.#prompt;
    const pressed = this.#pressed();
    const waited = Date.now() - pressed.at;
    if (this.#isInLine()) {
      if (isCommand(text) && pressed.enters > 0 && waited >= commandMs)
        return this.#takeOut("the agent did not take it");
      if (watch.pressed?.promptId !== promptId) {
        // The agent itself, or the daemon before this one, may be about to send it: an agent that clears its line only
        // when its conversation is open would take it twice.
        watch.pressed = { ...pressed, at: Date.now() };
        return waiting;
      }
      if (waited < enterAgainMs) return waiting;
      if (pressed.enters < maxEnters) {
        await this.#typed.press("Enter");
        watch.pressed = { ...pressed, enters: pressed.enters + 1, at: Date.now() };
        return waiting;
      }
      return this.#takeOut("the agent did not take Enter");
    }
    if (watch.keepsPrompt()) return { is: "waiting", why: "the agent keeps it until its turn is over" };
    if (isCommand(text) && pressed.enters > 0) return waiting;
    return this.#orDoubt(now);
  }

  /** It left the input line: the agent runs it itself, and may show a panel now. */
  #ranCommand(): boolean {
    const { enters, at } = this.#pressed();
    return isCommand(this.#prompt.text) && enters > 0 && Date.now() - at >= commandMs && !this.#isInLine();
  }

  /** Of an agent that confirms nothing: an earlier daemon left it before the cursor, and Enter sent it. */
  #wasCompleted(): boolean {
    return !confirmsPrompts(this.#typed.watch.agent) && this.#pressed().enters > 0 && !this.#isInLine();
  }

  #isInLine(): boolean {
    if (this.#isLeft) return true;
    const { input } = this.#typed.watch;
    return input.is === "text" && holds(input.text, this.#prompt.text);
  }

  /** Waits for as long as a turn takes, and a while longer. */
  #orDoubt(now: ScreenCapture): Confirmation {
    const { watch } = this.#typed;
    const since = Math.max(this.#prompt.sentAt, this.#pressed().at, watch.workedAt, watch.readySince);
    if (now.working || Date.now() - since < (watch.agent?.confirmMs ?? defaultConfirmMs)) return waiting;
    return {
      is: "doubtful",
      why: this.#prompt.asArgument
        ? "the agent was started with it, and never confirmed it"
        : "it was typed, and the agent never confirmed it",
    };
  }

  /** Only while our own text is seen in it: the same keys leave an agent whose line is empty. */
  async #takeOut(why: string): Promise<Confirmation> {
    const typed = this.#typed;
    const { watch } = typed;
    const rules = watch.agent?.input;
    if (rules === undefined) return { is: "doubtful", why: `${why}, and it is still in the input line` };
    for (let times = 0; times < maxClears && watch.input.is === "text"; times += 1) {
      const { text } = watch.input;
      if (times === 0 && !holds(text, this.#prompt.text)) break;
      await typed.press(rules.clear);
      for (let looks = 0; looks < 20; looks += 1) {
        if ((await typed.look()) === null) return { is: "gone" };
        if (watch.input.is !== "text" || watch.input.text !== text) break;
        await delay(pollMs);
      }
    }
    if (watch.input.is !== "empty") return { is: "doubtful", why: `${why}, and it is still in the input line` };
    return { is: "not-taken", why: `${why}; it was taken out of the input line again` };
  }

  #pressed(): NonNullable<LaunchWatch["pressed"]> {
    const { promptId, sentAt } = this.#prompt;
    const { pressed } = this.#typed.watch;
    return pressed?.promptId === promptId ? pressed : { promptId, enters: 0, at: sentAt };
  }

  #confirmed(by: string): Confirmation {
    this.#typed.watch.pressed = null;
    return { is: "confirmed", by };
  }

  #isInTranscript(): boolean {
    const { watch } = this.#typed;
    const { sentAt, text } = this.#prompt;
    const now = Date.now();
    if (now - this.#pressed().at < transcriptMs || now - this.#readAt < transcriptEveryMs) return false;
    this.#readAt = now;
    return watch.readPrompts(this.#session.workspacePath, sentAt).some((one) => same(one, text));
  }
}

/** For a prompt of which the kernel's echo is all that was seen. */
export const onlyEcho = "only the terminal's echo of it was seen";
const waiting: Confirmation = { is: "waiting", why: "the agent has not confirmed it yet" };
const starting: Confirmation = { is: "waiting", why: "agent is starting" };

function isConfirmedByHook(watch: LaunchWatch, { mark, text }: SentPrompt): boolean {
  return watch.hooks.promptsSince(mark).some((prompt) => same(prompt, text));
}
