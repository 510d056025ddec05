/** `npm run test:agents`: installs the real agents, drives them against the scripted model, and ends with one line of counts. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installAgents } from "./install-agents.ts";
import { printFailure, printFailures, readReport } from "./report.ts";

const { passed, failed } = run();
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

function run(): { passed: number; failed: number } {
  try {
    installAgents();
  } catch (error) {
    printFailure("installing the agents", error instanceof Error ? error.message : String(error));
    return { passed: 0, failed: 1 };
  }
  const directory = mkdtempSync(join(tmpdir(), "holdfast-agents-"));
  const output = join(directory, "report.json");
  const options = ["--config", "vitest.agents.config.ts", "--reporter=default", "--reporter=json"];
  const args = ["run", ...options, `--outputFile.json=${output}`, ...process.argv.slice(2)];
  const { status } = spawnSync("vitest", args, { stdio: "inherit" });
  const report = readReport(output);
  rmSync(directory, { recursive: true });
  // A run that failed before or after its tests has no failed test to list.
  const broken = status !== 0 && report.numFailedTests === 0;
  printFailures(report);
  if (broken) printFailure("vitest", "the test run itself failed");
  return { passed: report.numPassedTests, failed: report.numFailedTests + (broken ? 1 : 0) };
}
