/** Installs Debian packages that tests need, where that is possible; elsewhere says what to install and stops. */
import { spawnSync } from "node:child_process";

export function ensureTools(commands: string[]): void {
  const missing = commands.filter((command) => spawnSync("sh", ["-c", 'command -v "$0"', command]).status !== 0);
  if (missing.length === 0) return;
  const isRoot = process.getuid?.() === 0;
  const hasApt = spawnSync("sh", ["-c", "command -v apt-get"]).status === 0;
  if (!isRoot || !hasApt) {
    console.error(`The tests need ${missing.join(", ")}, which could not be found.`);
    console.error(`On Debian or Ubuntu: sudo apt-get install -y --no-install-recommends ${missing.join(" ")}`);
    process.exit(1);
  }
  console.log(`Installing ${missing.join(", ")} …`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  for (const args of [
    ["update", "-qq"],
    ["install", "-y", "-qq", "--no-install-recommends", ...missing],
  ]) {
    const ran = spawnSync("apt-get", args, { env, encoding: "utf8" });
    if (ran.status !== 0) {
      console.error(`apt-get ${args.join(" ")} failed:\n${ran.stdout}\n${ran.stderr}`);
      process.exit(1);
    }
  }
}
