/** The run ends with a count of leftover processes and homes, which must be zero; each home checks its tmux socket itself. */
import { randomUUID } from "node:crypto";
import { readdirSync } from "node:fs";
import { homePrefix, homesDirectory } from "./home.ts";
import { markedProcesses, processesNaming } from "./marked.ts";
import { until } from "./until.ts";

/** Children of a closed browser exit a moment after it. Vitest gives up after 10 s. */
const endingMs = 5_000;

export default function setup(): () => Promise<void> {
  // One for all projects of a run.
  const run = (process.env["HOLDFAST_TEST_RUN"] ??= randomUUID());
  const processes = (): Map<number, string> =>
    new Map(
      [...markedProcesses(`HOLDFAST_TEST_RUN=${run}`), ...processesNaming(homePrefix(run))].map(({ pid, what }) => [
        pid,
        what,
      ]),
    );
  const leftOver = (): string[] => [
    ...[...processes()]
      .filter(([, what]) => !/vitest|esbuild|rolldown/.test(what))
      .map(([pid, what]) => `process ${pid}: ${what}`),
    ...readdirSync(homesDirectory).filter((name) => name.startsWith(homePrefix(run))),
  ];
  return async () => {
    const browsers = (): boolean => leftOver().some((what) => what.includes("chromium"));
    await until("closed browsers to be gone", () => !browsers(), endingMs).catch(() => undefined);
    const left = leftOver();
    console.log(`Census: ${left.length} processes and homes left over.`);
    if (left.length > 0) throw new Error(`the tests left something behind:\n${left.join("\n")}`);
  };
}
