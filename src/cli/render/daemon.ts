/** Sentences about the daemon. */
import type { Context } from "../context.ts";
import type { StartOutcome, StopOutcome } from "../daemon-control.ts";
import type { InfoJson } from "../../protocol/wire.ts";
import { ageOf, compareNaturally, count } from "./text.ts";

export function sayStart(context: Pick<Context, "out" | "err">, outcome: StartOutcome): void {
  if (outcome.start === "already-running") {
    context.out(`Holdfast is already running at ${outcome.url} (pid ${outcome.pid}).`);
    return;
  }
  const { url, pid, notes } = outcome.daemon;
  context.out(`Holdfast is running at ${url} (pid ${pid}).`);
  for (const note of notes) context.err(note);
}

export function stopLines(outcome: StopOutcome): { lines: string[]; exitCode: number } {
  switch (outcome.stop) {
    case "not-running":
      return { lines: ["Holdfast is not running."], exitCode: 0 };
    case "still-halting":
      return {
        lines: [
          `Still ending: ${outcome.answer.remaining.join(", ")}.`,
          "The daemon keeps running until they are gone. Try again, or end them with holdfast session kill.",
        ],
        exitCode: 1,
      };
    case "stopped":
      return { lines: [stoppedLine(outcome)], exitCode: 0 };
    default:
      return outcome satisfies never;
  }
}

function stoppedLine({ answer }: Extract<StopOutcome, { stop: "stopped" }>): string {
  const again = "(holdfast start to supervise them again).";
  if (answer === null) return `Daemon stopped. Its sessions keep running ${again}`;
  if (answer.halted.length > 0)
    return `Daemon stopped. ${count(answer.halted.length, "session")} stopped: ${answer.halted.toSorted(compareNaturally).join(", ")}.`;
  if (answer.kept === 0) return "Daemon stopped. No sessions were running.";
  return answer.kept === 1
    ? "Daemon stopped. 1 session keeps running (holdfast start to supervise it again)."
    : `Daemon stopped. ${answer.kept} sessions keep running ${again}`;
}

export function infoLines(info: InfoJson, now: number): string[] {
  const since = info.startedAt === null ? "" : `, for ${ageOf(info.startedAt, now)}`;
  const rows: [string, string | null][] = [
    ["State", `${info.state}${info.pid === null ? "" : ` (pid ${info.pid}${since})`}`],
    ["Address", info.url],
    ["Socket", info.socket],
    ["Home", info.home],
    ["Version", `${info.version} (build ${info.build})`],
    ["Managed by", info.managedBy],
  ];
  return rows.flatMap(([name, value]) => (value === null ? [] : [`${`${name}:`.padEnd(11)} ${value}`]));
}
