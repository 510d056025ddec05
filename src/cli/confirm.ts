/** Asks the user on a terminal. Without a terminal the caller must refuse. */
import { createInterface } from "node:readline";
import { HoldfastError } from "../contract/errors.ts";
import type { Context } from "./context.ts";

export async function askYesNo(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await new Promise<string>((resolve) => {
      const close = (): void => resolve("");
      lines.once("close", close);
      // Ctrl-C cancels the command. As an answer it would be kept as a "no", and the command would continue.
      lines.once("SIGINT", () => {
        lines.off("close", close);
        // Leaves raw mode, which a process killed by a signal would not.
        lines.close();
        process.stderr.write("\n");
        process.kill(process.pid, "SIGINT");
      });
      lines.question(`${question} [y/N] `, resolve);
    });
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}

/** Throws `refusal` unless the user confirms; without a terminal the error names the option to add. */
export async function requireYes(
  context: Context,
  question: string,
  { refusal, hint }: { refusal: string; hint: string },
): Promise<void> {
  const canAsk = context.isTerminal(0);
  if (canAsk && (await askYesNo(question))) return;
  throw new HoldfastError("conflict", refusal, canAsk ? {} : { hint });
}
