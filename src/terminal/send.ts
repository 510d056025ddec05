/**
 * Types a prompt into an agent that is ready for it: out of copy mode, into an empty input line, pasted from a buffer,
 * seen there, then Enter; confirm.ts then checks that the agent received it. Nothing is typed into a dialog, also not into
 * one that opens meanwhile.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { PromptToSend, SendResult, Typing } from "../ports/runtime.ts";
import type { SessionState } from "../model/session.ts";
import { clearStopping } from "../base/stop-mark.ts";
import { Confirming, onlyEcho, findTyped, pollMs, dialogOf, type ScreenCapture, type Typed } from "./confirm.ts";
import {
  endsInMention,
  holds,
  pastePlaceholder,
  typeable,
  countOf,
  normalise,
  isRaw,
  readsTerminal,
} from "./screen.ts";
import type { ObserveContext } from "./observe.ts";
import type { Pane } from "./panes.ts";
import { confirmsPrompts } from "./watch.ts";

export interface SendTimes {
  /** How long a pasted text may take to show; a megabyte through a slow agent takes seconds. */
  arriveMs: number;
  /** How long the agent's own confirmation is waited for here; after that it is asked for now and then. */
  hookMs: number;
  /** How long the screen may take to react to Enter, where the agent confirms nothing. */
  reactMs: number;
  /** How long the screen of an agent that shows nothing on its own must rest before its first prompt. */
  restMs: number;
}

export const defaultSendTimes: SendTimes = { arriveMs: 15_000, hookMs: 10_000, reactMs: 5000, restMs: 600 };

/** A blank screen may be a program that reads lines, or one that has not drawn yet. */
const blankRestMs = 2000;
/** A screen that never stops changing is typed into after this. */
const restlessMs = 10_000;
/** Enough of the text's end to distinguish it from the rest of the screen. */
const needleLength = 48;
/** Between two checks of an input line, which must be the same in both. */
const againMs = 120;

const always: Typing = { begin: () => Promise.resolve(true), wanted: () => true };

export async function send(
  context: ObserveContext,
  session: SessionState,
  prompt: PromptToSend,
  times: SendTimes,
  typing: Typing = always,
): Promise<SendResult> {
  const clean = typeable(prompt.text);
  if (clean.trim() === "") return { sent: "refused", why: "the prompt is empty" };
  const typed = await findTyped(context, session);
  if (typeof typed === "string") return notNow(typed);
  const { watch, pane } = typed;
  const known = watch.agent?.input !== undefined;
  const before = known ? await untilInputStands(typed) : await untilSettled(typed, times, typing);
  if (typeof before === "string") return notNow(before);
  if (before.pane.inMode) await context.tmux.run({ commands: [["send-keys", "-t", pane.paneTarget, "-X", "cancel"]] });

  const mark = watch.hooks.promptMark;
  const text = known && endsInMention(clean) ? `${clean} ` : clean;
  // The kernel's echo proves nothing about the agent.
  const echoes = !known && (await isRaw(before.pane.tty)) === false;
  const wasReady = watch.isReady;
  if (!(await typing.begin(mark))) return notNow("the prompt was withdrawn, or the session is to stop");
  const sentAt = Date.now();
  const pasted = await paste(context, pane, text);
  // A known input line shows later whether it was typed.
  if (pasted !== null) return pasted.sent === "doubtful" && known ? pending(pasted.why) : pasted;
  watch.pressed = { promptId: prompt.promptId, enters: 0, at: Date.now() };
  const shown = known
    ? await untilInLine(typed, text, times, typing)
    : await untilShown(typed, text, before.screen, times, typing);
  if (typeof shown === "string") return known ? pending(shown) : doubtful(shown);
  const guardMs = watch.agent?.pasteGuardMs ?? 0;
  if (guardMs > 0) await delay(guardMs);
  const entered = await typed.press("Enter");
  if (!entered) return (known ? pending : doubtful)("the text was typed, but Enter could not be pressed");
  watch.pressed = { promptId: prompt.promptId, enters: 1, at: Date.now() };
  watch.isReady = true;
  clearStopping(context.files.directory(session.id, pane.launch));
  if (!confirmsPrompts(watch.agent)) {
    return echoes ? untilConfirmed(typed, shown.screen, times, wasReady) : untilReaction(typed, shown.screen, times);
  }
  const sent = { ...prompt, text, launch: pane.launch, mark, sentAt, asArgument: false };
  const confirming = new Confirming(typed, session, sent);
  const until = performance.now() + times.hookMs;
  for (;;) {
    const now = await confirming.step();
    if (now.is === "confirmed") return { sent: "seen", by: now.by };
    // Or tmux did not respond: the next check shows it.
    if (now.is === "gone") return pending("the agent was not seen after Enter was pressed");
    if (now.is === "doubtful") return doubtful(now.why);
    if (now.is === "not-taken") return { ...notNow(now.why), typed: true };
    if (performance.now() >= until || !typing.wanted()) return pending(now.why);
    await delay(pollMs * 2);
  }
}

/** Ready: an input line that is empty in two checks in a row, no dialog, and a terminal in raw mode. Else why not. */
async function untilInputStands(typed: Typed): Promise<ScreenCapture | string> {
  const { watch } = typed;
  for (let looks = 0; ; looks += 1) {
    const now = await typed.capture();
    if (now === null) return "the agent does not run";
    if (now.dialog !== null) return now.dialog;
    if (watch.input.is === "text") return "text that was not sent is in the agent's input line";
    if (watch.input.is === "hidden" || !watch.isReady) {
      return watch.isReady ? "the agent's input line is not on its screen" : "agent is starting";
    }
    if (watch.inputStands && looks > 0) return (await isRaw(now.pane.tty)) === false ? "agent is starting" : now;
    await delay(againMs);
  }
}

/** Without a known input line, a hook or an unchanged screen shows that the agent is ready. */
async function untilSettled(typed: Typed, times: SendTimes, typing: Typing): Promise<ScreenCapture | string> {
  const { watch } = typed;
  const from = Date.now();
  for (;;) {
    const now = await typed.capture();
    if (now === null) return "the agent does not run";
    if (now.dialog !== null) return now.dialog;
    if (watch.isReady) return now;
    const rest = Date.now() - Math.max(watch.restSince, now.pane.activeAt);
    const isBlank = now.screen.trim() === "";
    const isOver = Date.now() - from > restlessMs;
    if (isOver || rest >= (isBlank ? Math.max(blankRestMs, times.restMs) : times.restMs)) {
      const raw = await isRaw(now.pane.tty);
      // Drawn, or a program that reads lines: until it does, it may still take the terminal over and drop what is there.
      if (raw === true ? !isBlank : readsTerminal(now.pane) !== false && !(isOver && isBlank)) return now;
    }
    if (isOver) return "agent is starting";
    if (!typing.wanted()) return "the session is to end";
    await delay(pollMs * 4);
  }
}

async function paste(context: ObserveContext, pane: Pane, text: string): Promise<SendResult | null> {
  const buffer = `holdfast-${randomBytes(6).toString("hex")}`;
  const loaded = await context.tmux.run({ commands: [["load-buffer", "-b", buffer, "-"]], stdin: text });
  if (loaded.is !== "ok") return notNow("tmux rejected the text");
  // One step inside the server: tmux 3.3a dies, with every session, when it pastes into a dead pane.
  const into = `paste-buffer -p -r -d -b ${buffer} -t ${pane.paneTarget}`;
  const guarded = ["if-shell", "-F", "-t", pane.paneTarget, "#{pane_dead}", "display-message -p dead", into];
  const pasted = await context.tmux.run({ commands: [guarded] });
  if (pasted.is === "ok" && pasted.stdout.trim() !== "dead") return null;
  await context.tmux.run({ commands: [["delete-buffer", "-b", buffer]] });
  // Without a response it may have been typed nevertheless.
  return pasted.is === "unknown"
    ? doubtful(`tmux did not confirm the paste: ${pasted.why}`)
    : notNow("the agent does not run");
}

const notShown = "the text was not seen on the screen; Enter was not pressed";
const asked = "the agent asked a question while the text was typed; Enter was not pressed";

/** Until the input line contains this prompt, and nothing else. */
async function untilInLine(
  typed: Typed,
  text: string,
  times: SendTimes,
  typing: Typing,
): Promise<ScreenCapture | string> {
  const until = performance.now() + times.arriveMs;
  let before: string | null = null;
  while (performance.now() < until && typing.wanted()) {
    const now = await typed.capture();
    if (now === null) return "the agent ended while the text was typed";
    const { input } = typed.watch;
    const shown = input.is === "text" && holds(input.text, text) ? input.text : null;
    if (dialogOf(now, shown !== null) !== null) return asked;
    if (shown !== null && shown === before) return now;
    before = shown;
    await delay(pollMs);
  }
  return notShown;
}

/** Until the screen shows more of it than before, and stops changing. */
async function untilShown(
  typed: Typed,
  text: string,
  before: string,
  times: SendTimes,
  typing: Typing,
): Promise<ScreenCapture | string> {
  const needle = normalise(text).slice(-needleLength);
  const lastLine = normalise(text.trimEnd().split("\n").at(-1) ?? "").slice(-needleLength);
  const score = (screen: string): number[] => [
    countOf(normalise(screen), needle),
    countOf(normalise(screen), lastLine),
    screen.match(pastePlaceholder)?.length ?? 0,
  ];
  const had = score(before);
  const until = performance.now() + times.arriveMs;
  let last: ScreenCapture | null = null;
  while (performance.now() < until && typing.wanted()) {
    const now = await typed.capture();
    if (now === null) return notShown;
    if (now.dialog !== null) return asked;
    const shown = score(now.screen).some((count, index) => count > had[index]!);
    if (shown && now.screen === last?.screen) return now;
    last = shown ? now : null;
    await delay(pollMs);
  }
  // A busy screen never stops changing: shown once is enough.
  return last ?? notShown;
}

async function untilReaction(typed: Typed, shown: string, times: SendTimes): Promise<SendResult> {
  const until = performance.now() + times.reactMs;
  for (;;) {
    const now = await typed.capture();
    if (now === null) return doubtful("the agent ended right after Enter was pressed");
    if (now.screen !== shown) return { sent: "seen", by: "screen" };
    if (performance.now() >= until) return doubtful("Enter was pressed, but the screen did not change");
    await delay(pollMs);
  }
}

/** As above, if the kernel echoes: more than the typed line must show, by a program that already read its terminal. */
async function untilConfirmed(typed: Typed, shown: string, times: SendTimes, wasReady: boolean): Promise<SendResult> {
  const until = performance.now() + times.reactMs;
  for (;;) {
    const now = await typed.capture();
    if (now === null) return doubtful("the agent ended right after Enter was pressed");
    // A screen that scrolled lost lines at its top.
    if (!normalise(shown).endsWith(normalise(now.screen))) {
      if (!wasReady && (await isRaw(now.pane.tty)) === true) return doubtful(tookOver);
      return { sent: "seen", by: "screen" };
    }
    if (performance.now() >= until) return doubtful(onlyEcho);
    await delay(pollMs);
  }
}

const tookOver = "the agent took its terminal over after the text was typed, and may have dropped it";

const notNow = (why: string): Extract<SendResult, { sent: "not-now" }> => ({ sent: "not-now", why });
const pending = (why: string): SendResult => ({ sent: "pending", why });
const doubtful = (why: string): SendResult => ({ sent: "doubtful", why });
