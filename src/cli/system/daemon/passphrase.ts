/** Whether a given passphrase may be used: a new one must not be weak, the one that is in use may be. */
import { writeDurable } from "../../../base/durable-file.ts";
import { hashForMark, isSamePassphrase, type PassphraseMark, readPassphraseMark } from "../../../base/passphrase.ts";
import { weaknessOf } from "../../../base/passphrase.ts";
import type { Paths } from "../../../base/paths.ts";
import { HoldfastError } from "../../../contract/error.ts";
import { storedPassphrase } from "./launch-options.ts";

export function admitPassphrase(paths: Paths, given: string): PassphraseMark {
  const mark = readPassphraseMark(paths.passphraseMark);
  if (mark !== null && isSamePassphrase(given, mark.hash)) return mark;
  const stored = storedPassphrase(paths);
  const weak = weaknessOf(given);
  // Set by a build that kept no mark.
  const isOld = mark === null && stored !== null && isSamePassphrase(given, stored);
  if (weak !== null && !isOld) {
    throw new HoldfastError("usage", `The passphrase is too weak: ${weak}. Nothing was started.`, {
      hint: "Use four words, or 12 mixed characters. Generate one: holdfast passphrase --file <file>",
    });
  }
  return { hash: hashForMark(given), weak, replaced: !isOld && stored !== null };
}

export function rememberMark(paths: Paths, mark: PassphraseMark | null): void {
  if (mark !== null) writeDurable(paths.passphraseMark, `${JSON.stringify(mark)}\n`, 0o600);
}
