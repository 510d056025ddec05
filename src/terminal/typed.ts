/** The pane of an agent that is typed into: looks at it, and presses keys. */
import { identify } from "../base/pid.ts";
import type { SessionState } from "../model/session.ts";
import { endsAtCursor } from "./input.ts";
import { expectedLaunch } from "./observe.ts";
import type { ObserveContext } from "./observe.ts";
import { listPanes, paneFor } from "./panes.ts";
import type { Pane } from "./panes.ts";
import { captureScreens } from "./screen.ts";
import type { LaunchWatch } from "./watch.ts";

export type { Pane } from "./panes.ts";

export const pollMs = 25;

export interface Look {
  pane: Pane;
  screen: string;
  /** What the agent asks, by its hooks, title or screen; null where it asks nothing. */
  asks: string | null;
  /** Only words on its screen ask; neither its hooks nor its status file nor its title. */
  asksOnScreen: boolean;
  working: boolean;
}

export interface Typed {
  watch: LaunchWatch;
  pane: Pane;
  /** The screen now. Null when it has gone. */
  look(): Promise<Look | null>;
  press(key: string): Promise<boolean>;
  /** Whether a text stands right before the cursor. */
  isAtCursor(text: string): Promise<boolean>;
}

/** A text is the reason why there is none. */
export async function findTyped(context: ObserveContext, session: SessionState): Promise<Typed | string> {
  const list = await listPanes(context.tmux);
  if (list.is === "unknown") return `tmux cannot be asked: ${list.why}`;
  const own = list.is === "known" ? list.panes.filter((pane) => pane.session === session.id) : [];
  const pane = paneFor(own, expectedLaunch(session));
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

async function lookAt(context: ObserveContext, watch: LaunchWatch, target: string): Promise<Look | null> {
  const [list, screens] = await Promise.all([listPanes(context.tmux), captureScreens(context.tmux, [target])]);
  const pane = list.is === "known" ? list.panes.find((one) => one.paneTarget === target) : undefined;
  const screen = screens.get(target);
  if (pane === undefined || pane.dead || screen === undefined || identify(pane.pid) === null) return null;
  watch.hooks.read();
  watch.sawScreen(pane, screen, Date.now());
  const seen = watch.activity(pane, Date.now());
  const asks = seen?.activity === "needs_input" ? asksWhat(seen.reason) : null;
  return { pane, screen, asks, asksOnScreen: seen?.source === "screen", working: seen?.activity === "working" };
}

/** A line that holds our prompt is no dialog: what the screen seems to ask then is part of the conversation. */
export function questionOf({ asks, asksOnScreen }: Look, holdsPrompt: boolean): string | null {
  return asksOnScreen && holdsPrompt ? null : asks;
}

function asksWhat(reason: string | null): string {
  return `${reason ?? "the agent asks a question"} (answer it first)`;
}
