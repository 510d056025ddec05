/** The run ends with a census of processes and homes, which must be empty; each home looks after its tmux socket itself. */
import { randomUUID } from "node:crypto";
import { readdirSync } from "node:fs";
import { homePrefix, homesDirectory } from "./home.ts";
import { markedProcesses } from "./marked.ts";

export default function setup(): () => void {
  const run = randomUUID();
  process.env["HOLDFAST_TEST_RUN"] = run;
  return () => {
    const left = [
      ...markedProcesses(`HOLDFAST_TEST_RUN=${run}`)
        .filter(({ what }) => !/vitest|esbuild|rolldown/.test(what))
        .map(({ pid, what }) => `process ${pid}: ${what}`),
      ...readdirSync(homesDirectory).filter((name) => name.startsWith(homePrefix(run))),
    ];
    console.log(`Census: ${left.length} processes and homes left over.`);
    if (left.length > 0) throw new Error(`the tests left something behind:\n${left.join("\n")}`);
  };
}
