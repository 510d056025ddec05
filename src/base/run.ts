/** Runs a small foreign program for its output: no shell, a deadline, bounded output, nothing on its input. */
import { spawn } from "node:child_process";
import { startChild } from "./start-child.ts";

export interface RunAnswer {
  code: number;
  stdout: string;
}

/** Null: it is not there, took too long, or printed more than expected. */
export type Run = (argv: readonly string[], options: RunOptions) => Promise<RunAnswer | null>;

export interface RunOptions {
  deadlineMs: number;
  /** All that it gets; without it, it has our own. */
  env?: Readonly<Record<string, string | undefined>>;
}

const maxOutputBytes = 64 * 1024;

export const run: Run = async (argv, { deadlineMs, env = process.env }) => {
  const begin = () => spawn(argv[0]!, argv.slice(1), { env, stdio: ["ignore", "pipe", "ignore"] });
  const child = await startChild(begin, { forMs: deadlineMs }).catch(() => null);
  if (child === null) return null;
  return await new Promise((resolve) => {
    const out: Buffer[] = [];
    let bytes = 0;
    let ended = false;
    const end = (): void => {
      ended = true;
      child.kill("SIGKILL");
      // What it has started may hold the pipe open for ever.
      child.stdout.destroy();
    };
    const timer = setTimeout(end, deadlineMs);
    child.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxOutputBytes) end();
      else out.push(chunk);
    });
    child.on("error", () => {
      clearTimeout(timer);
      resolve(null);
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve(ended ? null : { code: code ?? 128, stdout: Buffer.concat(out).toString("utf8") });
    });
  });
};
