/** Everything that `holdfast doctor` finds: it looks from outside, as a process of its own that asks this daemon too. */
import { spawn } from "node:child_process";
import { startChild, whyNotStarted } from "../base/run.ts";
import { HoldfastError } from "../contract/errors.ts";
import type { FindingJson } from "../contract/daemon.ts";

/** Some tools are asked for their version, one after the other. */
const deadlineMs = 60_000;
const maxBytes = 4 * 1024 * 1024;

/** Ended with all that it asks when nobody waits for it any more: whoever asked went away, or the daemon stops. */
export async function fullDoctor(cli: readonly string[], signal: AbortSignal): Promise<FindingJson[]> {
  const [file = "", ...args] = cli;
  const child = await startChild(() =>
    spawn(file, [...args, "doctor", "--json"], { cwd: "/", detached: true, stdio: ["ignore", "pipe", "ignore"] }),
  ).catch((cause: unknown) => {
    const message = `The doctor could not be started: ${whyNotStarted(cause)}.`;
    throw new HoldfastError("internal", message, { hint: "Run `holdfast doctor`.", cause });
  });
  const text = await new Promise<string>((resolve, reject) => {
    const end = (): void => {
      try {
        process.kill(-child.pid!, "SIGKILL");
      } catch {
        // It has just ended, or never began.
      }
    };
    let said = "";
    const timer = setTimeout(end, deadlineMs);
    signal.addEventListener("abort", end, { once: true });
    child.stdout.setEncoding("utf8").on("data", (part: string) => {
      if (said.length < maxBytes) said += part;
    });
    child.on("error", reject);
    child.on("close", () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve(said);
    });
  });
  try {
    // It exits with 1 where it found something; what counts is whether it said it all.
    const findings = JSON.parse(text) as FindingJson[];
    return findings.map(({ check, level, message, fix, fixable }) => ({ check, level, message, fix, fixable }));
  } catch (cause) {
    throw new HoldfastError("internal", "The doctor gave no answer.", { hint: "Run `holdfast doctor`.", cause });
  }
}
