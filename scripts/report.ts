/** Reads the JSON report of a vitest run, and lists its failed tests at the end of the output. */
import { readFileSync } from "node:fs";
import { relative } from "node:path";

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  testResults: {
    name: string;
    message: string;
    assertionResults: { status: string; fullName: string; failureMessages: string[] }[];
  }[];
}

const empty: Report = { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, testResults: [] };

/** A run that failed before it could report counts no tests; only its exit status shows the failure. */
export function readReport(path: string): Report {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Report;
  } catch {
    return empty;
  }
}

/** One line per failed test or file; `.ci/run` repeats the lines that start with this word. */
export function printFailures({ testResults }: Report): void {
  for (const { name, message, assertionResults } of testResults) {
    const failed = assertionResults.filter(({ status }) => status === "failed");
    const file = relative(process.cwd(), name);
    if (failed.length === 0 && message !== "") printFailure(file, message);
    for (const { fullName, failureMessages } of failed) printFailure(`${file} > ${fullName}`, failureMessages[0] ?? "");
  }
}

/** Titles of tests that may be skipped name what they need. */
export function printSkipped({ testResults }: Report): void {
  for (const { name, assertionResults } of testResults)
    for (const { status, fullName } of assertionResults)
      if (status === "skipped" || status === "pending")
        console.log(`skipped: ${relative(process.cwd(), name)} > ${fullName}`);
}

export function printFailure(name: string, message: string): void {
  const [first = ""] = message.trim().split("\n");
  console.log(`FAILED: ${name}: ${first.slice(0, 300)}`);
}
