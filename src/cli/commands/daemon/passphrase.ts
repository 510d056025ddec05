import { randomInt } from "node:crypto";
import { closeSync, openSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import { generatePassphrase } from "../../../base/passphrase.ts";
import { HoldfastError, messageOf } from "../../../contract/errors.ts";
import { type CommandEntry } from "../../command.ts";

export const command: CommandEntry = {
  options: [
    { long: "file", value: "file", description: "Write it to a new file (mode 0600) instead", completes: "file" },
  ],
  examples: [
    ["print a passphrase", "holdfast passphrase"],
    ["write it to a file for start --passphrase-file", "holdfast passphrase --file ~/.holdfast-passphrase"],
  ],
  notes: "Takes effect once you pass it to holdfast start. Changing the passphrase logs out every browser.",
  daemon: "alone",
  run(context, input) {
    const passphrase = generatePassphrase((below) => randomInt(below));
    const named = input.text("file");
    const file = named === undefined ? null : resolve(context.cwd, named);
    if (file !== null) writeNew(file, passphrase);
    if (file === null) context.print({ passphrase }, passphrase);
    else context.print({ file }, `Wrote ${file}. Use it: holdfast start --passphrase-file ${named}`);
    return Promise.resolve();
  },
};

/** Never overwrites a file: it may contain the passphrase in use. */
function writeNew(file: string, text: string): void {
  try {
    const descriptor = openSync(file, "wx", 0o600);
    writeSync(descriptor, `${text}\n`);
    closeSync(descriptor);
  } catch (error) {
    const exists = (error as NodeJS.ErrnoException).code === "EEXIST";
    throw new HoldfastError("usage", exists ? `${file} already exists.` : `Cannot write ${file}: ${messageOf(error)}`, {
      hint: "Use the path of a new file.",
      cause: error,
    });
  }
}
