/** What commands on the daemon print. */
import type { Context } from "../context.ts";
import type { StartOutcome, StopOutcome } from "../system/daemon/control.ts";
import type { InfoJson } from "../../contract/daemon.ts";
import { count } from "./text.ts";
import { formatAgeOf } from "../../model/duration.ts";
import { compareNaturally } from "../../model/text.ts";

export function printStart(context: Pick<Context, "out" | "err">, outcome: StartOutcome): void {
  if (outcome.start === "already-running") {
    context.out(`Holdfast is already running at ${outcome.url} (pid ${outcome.pid}).`);
    for (const address of outcome.publicUrls) context.out(`Also at ${address}`);
    for (const note of outcome.notes) context.err(note);
    return;
  }
  const { url, pid, notes } = outcome.daemon;
  context.out(`Holdfast is running at ${url} (pid ${pid}).`);
  for (const address of outcome.publicUrls) context.out(`Also at ${address}`);
  for (const note of notes) context.err(note);
}

/** `{start, url, publicUrls, pid, notes}` of `start --json` and `restart --json`. */
export function startJson(outcome: StartOutcome): Record<string, unknown> {
  const { start, publicUrls } = outcome;
  const { url, pid, notes } = start === "already-running" ? outcome : outcome.daemon;
  return { start, url, publicUrls, pid, notes };
}

/** `{stop, kept, halted, remaining}` of `stop --json`; `kept` is null if the daemon did not answer. */
export function stopJson(outcome: StopOutcome): Record<string, unknown> {
  if (outcome.stop === "not-running") return { stop: outcome.stop, kept: null, halted: [], remaining: [] };
  const { kept = null, halted = [], remaining = [] } = outcome.answer ?? {};
  return { stop: outcome.stop, kept, halted, remaining };
}

export function stopLines(outcome: StopOutcome): { lines: string[]; exitCode: number } {
  switch (outcome.stop) {
    case "not-running":
      return { lines: ["Holdfast is not running."], exitCode: 0 };
    case "still-halting":
      return {
        lines: [
          `Still running: ${outcome.answer.remaining.toSorted(compareNaturally).join(", ")}.`,
          "The daemon exits once they have stopped. To kill them immediately: holdfast session kill",
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

function until(expiresAt: string | null): string {
  return expiresAt === null ? " (cannot be read)" : ` (until ${expiresAt.slice(0, 10)})`;
}

/** @param installed the installed version, if the daemon runs another one. */
export function infoLines(
  info: InfoJson,
  now: number,
  installed: { version: string; build: string } | null = null,
): string[] {
  const since = info.startedAt === null ? "" : `, for ${formatAgeOf(info.startedAt, now)}`;
  const rows: [string, string | null][] = [
    ["State", `${info.state}${info.pid === null ? "" : ` (pid ${info.pid}${since})`}`],
    ["Address", info.url],
    ...(info.publicUrls ?? []).map((url): [string, string] => ["Also at", url]),
    ["TLS", info.tls == null ? null : `${info.tls.cert}${until(info.tls.expiresAt)}`],
    ["Socket", info.socket],
    ["Home", info.home],
    ["Version", `${info.version} (build ${info.build})`],
    [
      "Installed",
      installed === null ? null : `${installed.version} (build ${installed.build}); to use it: holdfast restart`,
    ],
    ["Managed by", info.managedBy],
  ];
  return rows.flatMap(([name, value]) => (value === null ? [] : [`${`${name}:`.padEnd(11)} ${value}`]));
}
