import { join } from "node:path";
import { HoldfastError } from "../../../contract/errors.ts";
import { type CommandEntry } from "../../command.ts";
import { type Paint, clean } from "../../render/text.ts";
import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from "node:fs";

const pollMs = 200;

/** Yields new lines after `end` forever, across rotations. */
async function* followFile(path: string, start: { end: number; inode: number }): AsyncGenerator<string> {
  let { end, inode } = start;
  for (;;) {
    const now = statSync(path, { throwIfNoEntry: false });
    // Rotated: lines written to the old file since the last read are now in its first successor.
    if (now !== undefined && now.ino !== inode) {
      const old = statSync(`${path}.1`, { throwIfNoEntry: false });
      if (old?.ino === inode) yield* readFrom(`${path}.1`, end).lines;
      [inode, end] = [now.ino, 0];
    }
    if (now !== undefined && now.size > end) {
      const read = readFrom(path, end);
      end = read.end;
      yield* read.lines;
    }
    await new Promise((resume) => setTimeout(resume, pollMs));
  }
}

/** Complete lines only: the next read returns a last line that is still being written. */
function readFrom(path: string, from: number): { lines: string[]; end: number; inode: number } {
  const file = openSync(path, "r");
  try {
    const { size, ino: inode } = fstatSync(file);
    const block = Buffer.alloc(Math.max(0, size - from));
    const read = readSync(file, block, 0, block.length, from);
    const lines = block.subarray(0, read).toString("utf8").split("\n");
    const rest = lines.pop() ?? "";
    return { lines, end: from + read - Buffer.byteLength(rest), inode };
  } finally {
    closeSync(file);
  }
}

const defaultLines = 50;

export const command: CommandEntry = {
  options: [
    {
      long: "lines",
      short: "n",
      value: "number",
      description: `Number of lines (default: ${defaultLines})`,
    },
    { long: "follow", short: "f", description: "Follow new lines" },
  ],
  examples: [
    ["show the last lines", "holdfast logs"],
    ["follow it", "holdfast logs -n 10 -f"],
  ],
  notes: "For more detail: HOLDFAST_LOG=debug holdfast restart. To undo: HOLDFAST_LOG=info holdfast restart.",
  json: "Print raw log entries, one JSON object per line",
  daemon: "alone",
  async run(context, input) {
    const lines = input.text("lines") ?? String(defaultLines);
    if (!/^\d{1,7}$/.test(lines)) throw new HoldfastError("usage", `-n must be an integer, not ${lines}.`);
    const path = join(context.paths.logs, "daemon.log");
    // The log is rotated at 5 MB.
    const found = existsSync(path) ? readFrom(path, 0) : null;
    const print = (line: string): void =>
      context.write(`${input.flag("json") ? line : logLine(line, context.paint)}\n`);
    if (found === null && !input.flag("follow")) {
      throw new HoldfastError("not-found", `There is no log yet: ${path}`, {
        hint: "Start the daemon with holdfast start.",
      });
    }
    const written = found?.lines ?? [];
    for (const line of written.slice(Math.max(0, written.length - Number(lines)))) print(line);
    if (!input.flag("follow")) return;
    for await (const line of followFile(path, found ?? { end: 0, inode: 0 })) print(line);
  },
};

export function logLine(text: string, paint: Paint): string {
  let entry: Record<string, unknown>;
  try {
    entry = JSON.parse(text) as Record<string, unknown>;
  } catch {
    return clean(text);
  }
  if (typeof entry["message"] !== "string") return clean(text);
  const { at, level, message, ...fields } = entry as { at?: unknown; level?: unknown; message: string };
  const when = typeof at === "string" ? at.replace("T", " ").replace(/Z$/, "") : "";
  const word = typeof level === "string" ? clean(level) : "info";
  const color = word === "error" ? paint.red : word === "warn" ? paint.yellow : paint.dim;
  const details = Object.entries(fields).map(
    ([name, value]) => `${name}=${clean(typeof value === "string" ? value : JSON.stringify(value))}`,
  );
  return [paint.dim(when), color(word.padEnd(5)), clean(message), ...details].filter((part) => part !== "").join("  ");
}
