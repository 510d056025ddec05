/** Questions to the person. Without a terminal there is nobody to ask, and the caller must refuse. */
import { createInterface } from "node:readline";

export async function askYesNo(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await new Promise<string>((resolve) => {
      const close = (): void => resolve("");
      lines.once("close", close);
      // Ctrl-C cancels the command. As an answer it would be kept as a "no", and the command would continue.
      lines.once("SIGINT", () => {
        lines.off("close", close);
        // Leaves raw mode, which a process that dies by a signal would not.
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
