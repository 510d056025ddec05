/** `npm test`: installs what the tests need, checks the code, builds, runs every test, and ends with one line of counts. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureTools } from "./tools.ts";

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numFailedTestSuites: number;
}

ensureTools(["chromium", "shellcheck", "busybox", "strace"]);
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
const report = readReport();
rmSync(directory, { recursive: true });
for (const name of failedChecks) console.log(`check failed: ${name}`);
if (status !== 0 && report.numFailedTests === 0) console.log("the test run itself failed (see above)");
const failed = report.numFailedTests + failedChecks.length + (status !== 0 && report.numFailedTests === 0 ? 1 : 0);
const passed = report.numPassedTests + checks.length - failedChecks.length;
console.log(
  `${passed} passed, ${failed} failed${report.numPendingTests > 0 ? `, ${report.numPendingTests} skipped` : ""}`,
);
process.exitCode = failed > 0 || status !== 0 ? 1 : 0;

function readReport(): Report {
  try {
    return JSON.parse(readFileSync(output, "utf8")) as Report;
  } catch {
    return { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numFailedTestSuites: 1 };
  }
}
