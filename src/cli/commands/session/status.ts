import { jsonText } from "../../render/text.ts";
import type { Context } from "../../context.ts";
import { type CommandEntry, projectOption } from "../../command.ts";
import { chooseSessions, fitted, type StatusLine, statusLines } from "../../render/sessions.ts";
import { follow } from "../../system/daemon/follow.ts";

const enter = "\u001b[?1049h\u001b[?25l";
const leave = "\u001b[?25h\u001b[?1049l";
/** Clearing each line behind its text, and the rest of the screen last, flickers less than clearing first. */
const home = "\u001b[H";
const clearLine = "\u001b[K";
const clearBelow = "\u001b[J";

const fallback = { columns: 80, rows: 24 };
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** `status --watch` on a terminal: an own screen of the terminal's size; the terminal is restored afterwards. */
async function watchScreen(context: Context, read: () => Promise<StatusLine[]>): Promise<void> {
  // Fails for a known reason (no daemon) before the screen is changed.
  let lines = await read();
  let note: string | null = null;
  let shown = "";
  const draw = (): void => {
    const { columns, rows } = context.terminalSize() ?? fallback;
    const head = note === null ? [] : [{ text: context.paint.yellow(note), session: false }];
    const text = fitted([...head, ...lines], { columns, rows }).join(`${clearLine}\r\n`);
    if (text !== shown) context.write(`${home}${text}${clearLine}${clearBelow}`);
    shown = text;
  };
  const resized = (): void => {
    shown = "";
    draw();
  };
  const end = (signal: NodeJS.Signals): void => {
    context.write(leave);
    for (const name of signals) process.off(name, end);
    process.kill(process.pid, signal);
  };
  for (const name of signals) process.on(name, end);
  process.on("SIGWINCH", resized);
  context.write(enter);
  try {
    draw();
    // A lost daemon is reported on the screen, not between its lines.
    const quiet: Context = {
      ...context,
      err: (text) => {
        note = text;
        draw();
      },
    };
    await follow(quiet, undefined, async () => {
      lines = await read();
      note = null;
      draw();
    });
  } finally {
    context.write(leave);
    process.off("SIGWINCH", resized);
    for (const name of signals) process.off(name, end);
  }
}

export const command: CommandEntry = {
  options: [
    projectOption,
    { long: "watch", short: "w", description: "Refresh on every change" },
    { long: "include-terminated", description: "Include killed, exited, done and archived sessions" },
  ],
  examples: [
    ["show what needs you and what is working", "holdfast status"],
    ["keep it up to date", "holdfast status --watch"],
  ],
  notes:
    "Sessions that need you come first, each with its request and the command to answer it. On a terminal, lines are cut\nto its width, and with --watch to its height; Ctrl-C exits. In a pipe nothing is cut.",
  async run(context, input) {
    const watches = input.flag("watch");
    const json = input.flag("json");
    const project = input.text("project");
    const includeTerminated = input.flag("include-terminated");
    const sessionsOf = () => context.call("sessions", project === undefined ? {} : { query: { project } });
    const read = async (): Promise<StatusLine[]> =>
      statusLines(await sessionsOf(), { includeTerminated }, context.paint, context.now());
    if (watches && !json && context.isTerminal(1)) return watchScreen(context, read);
    const columns = watches ? Infinity : (context.terminalSize()?.columns ?? Infinity);
    let last = "";
    const print = async (): Promise<void> => {
      const text = json
        ? // One array per line if more follow.
          jsonText(chooseSessions(await sessionsOf(), { all: true, includeTerminated }).shown, watches ? 0 : 2)
        : fitted(await read(), { columns, rows: Infinity }).join("\n");
      if (text !== last) context.write(`${text}\n`);
      last = text;
    };
    await print();
    if (watches) await follow(context, undefined, print);
  },
};
