import type { Context } from "../context.ts";
import { type CommandEntry, jsonOption, projectOption } from "../entry-types.ts";
import type { Input } from "../input.ts";
import { chooseSessions } from "../render/sessions.ts";
import { statusLines } from "../render/status.ts";

export const command: CommandEntry = {
  options: [
    projectOption,
    { long: "watch", short: "w", description: "show it again whenever something changes" },
    { long: "include-terminated", description: "also sessions that are killed, exited, done or archived" },
    jsonOption,
  ],
  examples: [
    ["what needs you, what is at work", "holdfast status"],
    ["kept up to date", "holdfast status --watch"],
  ],
  daemon: "starts",
  async run(context, input) {
    let last = await show(context, input);
    if (!input.flag("watch")) return;
    const { follow } = await import("../follow.ts");
    await follow(context, undefined, async () => {
      last = await show(context, input, last);
    });
  },
};

/** Home and clear to the end: less flicker than clearing first. */
const redraw = "\u001b[H\u001b[2J";

async function show(context: Context, input: Input, last?: string): Promise<string> {
  const project = input.text("project");
  const sessions = await context.call("sessions", project === undefined ? {} : { query: { project } });
  const includeTerminated = input.flag("include-terminated");
  const { shown } = chooseSessions(sessions, { all: true, includeTerminated });
  const text = input.flag("json")
    ? JSON.stringify(shown, null, input.flag("watch") ? undefined : 2)
    : statusLines(sessions, { includeTerminated }, context.paint, context.now()).join("\n");
  const clear = input.flag("watch") && !input.flag("json") && context.isTerminal(1);
  if (text !== last) context.out(clear ? `${redraw}${text}` : text);
  return text;
}
