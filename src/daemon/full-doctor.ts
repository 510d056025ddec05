/** Everything that `holdfast doctor` finds: it looks from outside, as a process of its own that asks this daemon too. */
import { spawn } from "node:child_process";
import { HoldfastError } from "../protocol/error.ts";
import type { FindingJson } from "../protocol/wire.ts";

/** Some tools are asked for their version, one after the other. */
const deadlineMs = 60_000;
const maxBytes = 4 * 1024 * 1024;

export async function fullDoctor(cli: readonly string[]): Promise<FindingJson[]> {
  const [file = "", ...args] = cli;
  const text = await new Promise<string>((resolve, reject) => {
    const child = spawn(file, [...args, "doctor", "--json"], { cwd: "/", stdio: ["ignore", "pipe", "ignore"] });
    let said = "";
    const timer = setTimeout(() => child.kill("SIGKILL"), deadlineMs);
    child.stdout.setEncoding("utf8").on("data", (part: string) => {
      if (said.length < maxBytes) said += part;
    });
    child.on("error", reject);
    child.on("close", () => {
      clearTimeout(timer);
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
