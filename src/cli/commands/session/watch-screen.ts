/** `status --watch` on a terminal: its own screen, as large as the terminal, and the terminal as it was afterwards. */
import type { Context } from "../../context.ts";
import { follow } from "../../system/daemon/follow.ts";
import { fitted, type StatusLine } from "../../render/status.ts";

const enter = "\u001b[?1049h\u001b[?25l";
const leave = "\u001b[?25h\u001b[?1049l";
/** Clearing each line behind its text, and the rest of the screen last, flickers less than clearing first. */
const home = "\u001b[H";
const clearLine = "\u001b[K";
const clearBelow = "\u001b[J";

const fallback = { columns: 80, rows: 24 };
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export async function watchScreen(context: Context, read: () => Promise<StatusLine[]>): Promise<void> {
  // What can fail for a known reason (no daemon, an unknown project) fails before the screen is changed.
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
    // A daemon that is away is announced on the screen, not between its lines.
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
