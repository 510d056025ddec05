/** The run ends with a census of processes, homes and tmux sockets, which must be empty. */
import { randomUUID } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { homePrefix, homesDirectory } from "./home.ts";
import { markedProcesses } from "./marked.ts";

export default function setup(): () => void {
  const run = randomUUID();
  process.env["HOLDFAST_TEST_RUN"] = run;
  const before = new Set([...homes(), ...tmuxSockets()]);
  return () => {
    const left = [
      ...markedProcesses(`HOLDFAST_TEST_RUN=${run}`)
        .filter(({ what }) => !/vitest|esbuild|rolldown/.test(what))
        .map(({ pid, what }) => `process ${pid}: ${what}`),
      ...[...homes(), ...tmuxSockets()].filter((path) => !before.has(path)),
    ];
    console.log(`Census: ${left.length} processes, homes and tmux sockets left over.`);
    if (left.length > 0) throw new Error(`the tests left something behind:\n${left.join("\n")}`);
  };
}

function homes(): string[] {
  return readdirSync(homesDirectory)
    .filter((name) => name.startsWith(homePrefix))
    .map((name) => join(homesDirectory, name));
}

/** tmux removes its socket when its last session ends; one that stays belongs to a server that was not ended. */
function tmuxSockets(): string[] {
  const directory = join(process.env["TMUX_TMPDIR"] ?? "/tmp", `tmux-${process.getuid?.() ?? 0}`);
  try {
    return readdirSync(directory).map((name) => join(directory, name));
  } catch {
    return [];
  }
}
