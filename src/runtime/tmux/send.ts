/**
 * Types a prompt into an agent: out of copy mode, pasted from a buffer, seen on the screen, then Enter, then confirmed
 * by the agent's own hook or by the screen. A question that is open, or that opens meanwhile, is never typed into.
 */
import { crypto } from "../../base/crypto.ts";
import { setTimeout as delay } from "node:timers/promises";
import { identify } from "../../base/pid.ts";
import type { SendResult } from "../../ports/runtime.ts";
import type { SessionState } from "../../protocol/session.ts";
import { expectedLaunch } from "./observe.ts";
import type { ObserveContext } from "./observe.ts";
import { listPanes, paneFor } from "./panes.ts";
import type { Pane } from "./panes.ts";
import { captureScreens, countOf, normalise } from "./screen.ts";
import type { LaunchWatch } from "./watch.ts";

export interface SendTimes {
  /** How long a pasted text may take to show; a megabyte through a slow agent takes seconds. */
  arriveMs: number;
  /** How long the agent's own hook may take to confirm before the screen's word is taken. */
  hookMs: number;
  /** How long the screen may take to react to Enter. */
  reactMs: number;
}

export const defaultSendTimes: SendTimes = { arriveMs: 15_000, hookMs: 2500, reactMs: 5000 };

const pollMs = 25;
/** Enough of the text's end to tell it from what else is on the screen. */
const needleLength = 48;
/** How agents show a long paste instead of its text. */
const pastePlaceholder = /\[pasted/gi;

export async function send(
  context: ObserveContext,
  session: SessionState,
  rawText: string,
  times: SendTimes,
): Promise<SendResult> {
  const text = typeable(rawText);
  if (normalise(text) === "") return notNow("the prompt is empty");
  const list = await listPanes(context.tmux);
  if (list.is === "unknown") return notNow(`tmux cannot be asked: ${list.why}`);
  const own = list.is === "known" ? list.panes.filter((pane) => pane.session === session.id) : [];
  const pane = paneFor(own, expectedLaunch(session));
  const agent = pane === null || pane.dead ? null : identify(pane.pid);
  if (pane === null || agent === null) return notNow("the agent does not run");
  const watch = context.watches.of(session, pane.launch);
  watch.process(agent);
  const typing = new Typing(context, pane, watch);
  const before = await typing.look();
  if (before === null) return notNow("the screen cannot be read");
  if (before.asks) return notNow("the agent waits for an answer to its own question");
  if (pane.inMode) await context.tmux.run({ commands: [["send-keys", "-t", pane.paneTarget, "-X", "cancel"]] });

  const mark = typing.watch.hooks.promptMark;
  const pasted = await typing.paste(text);
  if (pasted !== null) return pasted;
  const shown = await typing.waitUntilShown(text, before.screen, times.arriveMs);
  if (shown.is === "asks")
    return doubtful("the agent asked a question while the text was typed; Enter was not pressed");
  if (shown.is === "not-seen") return doubtful("the text was not seen on the screen; Enter was not pressed");
  const guardMs = watch.agent?.pasteGuardMs ?? 0;
  if (guardMs > 0) await delay(guardMs);
  const entered = await context.tmux.run({ commands: [["send-keys", "-t", pane.paneTarget, "Enter"]] });
  if (entered.is !== "ok") return doubtful("the text was typed, but Enter could not be pressed");
  return typing.waitUntilTaken(text, shown.screen, mark, times);
}

/** Line breaks and tabs stay; every other control character could press a key or end the bracketed paste. */
export function typeable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are what must go
  return text.replaceAll(/\r\n?/g, "\n").replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
}

interface Look {
  screen: string;
  asks: boolean;
}

class Typing {
  readonly watch: LaunchWatch;
  readonly #context: ObserveContext;
  readonly #pane: Pane;

  constructor(context: ObserveContext, pane: Pane, watch: LaunchWatch) {
    this.#context = context;
    this.#pane = pane;
    this.watch = watch;
  }

  /** The screen now, and whether the agent asks something by its hooks, title or screen. Null when it has gone. */
  async look(): Promise<Look | null> {
    const target = this.#pane.paneTarget;
    const [list, screens] = await Promise.all([
      listPanes(this.#context.tmux),
      captureScreens(this.#context.tmux, [target]),
    ]);
    const pane = list.is === "known" ? list.panes.find((one) => one.paneTarget === target) : undefined;
    const screen = screens.get(target);
    if (pane === undefined || pane.dead || screen === undefined) return null;
    this.watch.hooks.read();
    this.watch.sawScreen(pane, screen, Date.now());
    return { screen, asks: this.watch.activity(pane, Date.now())?.activity === "needs_input" };
  }

  async paste(text: string): Promise<SendResult | null> {
    const buffer = `holdfast-${crypto().randomBytes(6).toString("hex")}`;
    const loaded = await this.#context.tmux.run({ commands: [["load-buffer", "-b", buffer, "-"]], stdin: text });
    if (loaded.is !== "ok") return notNow("tmux did not take the text");
    const paste = ["paste-buffer", "-p", "-r", "-d", "-b", buffer, "-t", this.#pane.paneTarget];
    const pasted = await this.#context.tmux.run({ commands: [paste] });
    if (pasted.is === "ok") return null;
    await this.#context.tmux.run({ commands: [["delete-buffer", "-b", buffer]] });
    // Without an answer it may have been typed all the same.
    return pasted.is === "unknown"
      ? doubtful(`tmux did not confirm the paste: ${pasted.why}`)
      : notNow("the pane has gone");
  }

  /** Shown means: more of it than before, and the screen has come to rest. */
  async waitUntilShown(
    text: string,
    before: string,
    waitMs: number,
  ): Promise<{ is: "shown"; screen: string } | { is: "asks" } | { is: "not-seen" }> {
    const needle = normalise(text).slice(-needleLength);
    const lastLine = normalise(text.trimEnd().split("\n").at(-1) ?? "").slice(-needleLength);
    const score = (screen: string): number[] => [
      countOf(normalise(screen), needle),
      countOf(normalise(screen), lastLine),
      screen.match(pastePlaceholder)?.length ?? 0,
    ];
    const had = score(before);
    const until = performance.now() + waitMs;
    let last: string | null = null;
    while (performance.now() < until) {
      const now = await this.look();
      if (now === null) return { is: "not-seen" };
      if (now.asks) return { is: "asks" };
      const shown = score(now.screen).some((count, index) => count > had[index]!);
      if (shown && now.screen === last) return { is: "shown", screen: now.screen };
      last = shown ? now.screen : null;
      await delay(pollMs);
    }
    // A busy screen never rests; seen is seen.
    return last === null ? { is: "not-seen" } : { is: "shown", screen: last };
  }

  async waitUntilTaken(text: string, shown: string, mark: number, times: SendTimes): Promise<SendResult> {
    const startedAt = performance.now();
    const hasHook = this.watch.agent?.hookRules.some((rule) => rule.promptField !== undefined) === true;
    const wanted = normalise(text);
    let changed = false;
    for (;;) {
      const now = await this.look();
      if (this.watch.hooks.promptsSince(mark).some((prompt) => normalise(typeable(prompt)) === wanted)) {
        return { sent: "seen", by: "hook" };
      }
      if (now === null) return doubtful("the agent ended right after Enter was pressed");
      changed ||= now.screen !== shown;
      const elapsed = performance.now() - startedAt;
      if (changed && (!hasHook || elapsed >= times.hookMs)) return { sent: "seen", by: "screen" };
      if (elapsed >= times.reactMs) return doubtful("Enter was pressed, but the screen did not change");
      await delay(pollMs);
    }
  }
}

const notNow = (why: string): SendResult => ({ sent: "not-now", why });
const doubtful = (why: string): SendResult => ({ sent: "doubtful", why });
