/** Installs the Debian packages that tests need; if that is not possible, lists them and stops. */
import { spawnSync } from "node:child_process";

/** Another process may hold apt's lock, or a mirror may stall. */
const attempts = 3;
const attemptMs = 600_000;
const patient = ["-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=3"];

/** Commands whose Debian package has a different name. */
const packages: Record<string, string> = { "mkfs.ext4": "e2fsprogs", nginx: "nginx-light", bwrap: "bubblewrap" };

export function ensureTools(commands: string[]): void {
  const missing = commands
    .filter((command) => spawnSync("sh", ["-c", 'command -v "$0"', command]).status !== 0)
    .map((command) => packages[command] ?? command);
  if (missing.length === 0) return;
  const isRoot = process.getuid?.() === 0;
  const hasApt = spawnSync("sh", ["-c", "command -v apt-get"]).status === 0;
  if (!isRoot || !hasApt) {
    console.error(`The tests need ${missing.join(", ")}, which could not be found.`);
    console.error(`On Debian or Ubuntu: sudo apt-get install -y --no-install-recommends ${missing.join(" ")}`);
    process.exit(1);
  }
  console.log(`Installing ${missing.join(", ")} …`);
  for (let attempt = 1; attempt <= attempts; attempt++) {
    if (apt("update", "-qq") && apt("install", "-y", "-qq", "--no-install-recommends", ...missing)) return;
  }
  process.exit(1);
}

function apt(...args: string[]): boolean {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const ran = spawnSync("apt-get", [...patient, ...args], { env, encoding: "utf8", timeout: attemptMs });
  if (ran.status === 0) return true;
  console.error(`apt-get ${args.join(" ")} failed:\n${ran.stdout}\n${ran.stderr}\n${ran.error?.message ?? ""}`);
  return false;
}
