/** `npm test`: installs tools, checks the code, builds, runs every test, and ends with one line of counts. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { printFailure, printFailures, printSkipped, readReport } from "./report.ts";
import { ensureTools } from "./tools.ts";

interface TortureResult {
  name: string;
  outcome: string;
  note: string | null;
  findings: { text: string }[];
}

const tortureMinutes = 4;

ensureTools([
  "chromium",
  "shellcheck",
  "busybox",
  "strace",
  "fish",
  "zsh",
  "mkfs.ext4",
  "nginx",
  "openssl",
  "bwrap",
  "curl",
]);
const npm = (...args: string[]): number =>
  spawnSync("npm", ["run", "--silent", ...args], { stdio: "inherit" }).status ?? 1;
const checks = ["types", "lint", "format:check", "unused", "build"];
const failedChecks = checks.filter((name) => {
  console.log(`> ${name}`);
  return npm(name) !== 0;
});

const directory = mkdtempSync(join(tmpdir(), "holdfast-report-"));
const output = join(directory, "report.json");
const status = spawnSync(
  "vitest",
  ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${output}`, ...process.argv.slice(2)],
  {
    stdio: "inherit",
  },
).status;
const report = readReport(output);
// Tests named on the command line run alone.
const torture = process.argv.length > 2 ? { passed: 0, failed: 0, skipped: 0 } : runTorture();
rmSync(directory, { recursive: true });
for (const name of failedChecks) printFailure(name, "the check failed");
printFailures(report);
printSkipped(report);
if (status !== 0 && report.numFailedTests === 0) printFailure("vitest", "the test run itself failed");
const failed =
  report.numFailedTests + failedChecks.length + torture.failed + (status !== 0 && report.numFailedTests === 0 ? 1 : 0);
const passed = report.numPassedTests + checks.length - failedChecks.length + torture.passed;
const skipped = report.numPendingTests + torture.skipped;
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
process.exitCode = failed > 0 || status !== 0 ? 1 : 0;

/** The 4-minute lane; each scenario counts as a test, and one that fails prints the seed that repeats it. */
function runTorture(): { passed: number; failed: number; skipped: number } {
  const file = join(directory, "torture.json");
  const args = ["test/torture/run.ts", "--minutes", String(tortureMinutes), "--json", file, "--quiet"];
  spawnSync(process.execPath, args, { stdio: "inherit" });
  try {
    const { results } = JSON.parse(readFileSync(file, "utf8")) as { results: TortureResult[] };
    for (const { name, outcome, note, findings } of results)
      if (outcome === "failed" || outcome === "broken")
        printFailure(`torture ${name}`, findings[0]?.text ?? note ?? outcome);
    const count = (...outcomes: string[]): number => results.filter(({ outcome }) => outcomes.includes(outcome)).length;
    return { passed: count("passed"), failed: count("failed", "broken"), skipped: count("skipped") };
  } catch {
    printFailure("torture", "the run itself failed");
    return { passed: 0, failed: 1, skipped: 0 };
  }
}
