import { jsonText } from "../../render/json.ts";
import type { Context } from "../../context.ts";
import { type CommandEntry, jsonOption, projectOption } from "../../command.ts";
import type { Input } from "../../input.ts";
import { chooseSessions } from "../../render/sessions.ts";
import { fitted, type StatusLine, statusLines } from "../../render/status.ts";

export const command: CommandEntry = {
  options: [
    projectOption,
    { long: "watch", short: "w", description: "Show it again whenever something changes" },
    { long: "include-terminated", description: "Also sessions that are killed, exited, done or archived" },
    jsonOption,
  ],
  examples: [
    ["what needs you, what is in progress", "holdfast status"],
    ["kept up to date", "holdfast status --watch"],
  ],
  notes:
    "Sessions that need you come first, each with what it asks and the command that answers. On a terminal, lines are cut\nto its width, and --watch also to its height; Ctrl-C leaves it. In a pipe nothing is cut.",
  daemon: "starts",
  async run(context, input) {
    if (!input.flag("watch")) {
      const size = context.terminalSize();
      const columns = size?.columns ?? Infinity;
      context.out(
        input.flag("json")
          ? await json(context, input)
          : fitted(await read(context, input), { columns, rows: Infinity }).join("\n"),
      );
      return;
    }
    if (!input.flag("json") && context.isTerminal(1)) {
      const { watchScreen } = await import("./watch-screen.ts");
      await watchScreen(context, () => read(context, input));
      return;
    }
    const { follow } = await import("../../system/daemon/follow.ts");
    let last = "";
    const look = async (): Promise<void> => {
      const text = input.flag("json")
        ? await json(context, input)
        : (await read(context, input)).map((line) => line.text).join("\n");
      if (text !== last) context.out(text);
      last = text;
    };
    await look();
    await follow(context, undefined, look);
  },
};

async function sessionsOf(context: Context, input: Input) {
  const project = input.text("project");
  return context.call("sessions", project === undefined ? {} : { query: { project } });
}

async function json(context: Context, input: Input): Promise<string> {
  const includeTerminated = input.flag("include-terminated");
  const { shown } = chooseSessions(await sessionsOf(context, input), { all: true, includeTerminated });
  // One object per line where more follow.
  return jsonText(shown, input.flag("watch") ? undefined : 2);
}

async function read(context: Context, input: Input): Promise<StatusLine[]> {
  const includeTerminated = input.flag("include-terminated");
  return statusLines(await sessionsOf(context, input), { includeTerminated }, context.paint, context.now());
}
