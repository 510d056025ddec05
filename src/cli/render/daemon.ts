/** What commands on the daemon print. */
import type { Context } from "../context.ts";
import type { StartOutcome, StopOutcome } from "../system/daemon/control.ts";
import type { InfoJson } from "../../contract/daemon.ts";
import { count } from "./text.ts";
import { formatAgeOf } from "../../model/duration.ts";
import { compareNaturally } from "../../model/text.ts";

/** The result of `start` and `restart`. */
export function printStart(context: Context, outcome: StartOutcome, json: boolean): void {
  const { start, url, publicUrls, pid, notes } = outcome;
  const is = start === "already-running" ? "is already running" : "is running";
  const addresses = publicUrls.map((address) => `Also at ${address}`);
  context.print({ start, url, publicUrls, pid, notes }, [`Holdfast ${is} at ${url} (pid ${pid}).`, ...addresses]);
  if (!json) for (const note of notes) context.err(note);
}

/** The result of `stop`; `kept` is null if the daemon did not answer. */
export function printStop(context: Pick<Context, "print">, outcome: StopOutcome): number {
  const { kept = null, halted = [], remaining = [] } = ("answer" in outcome ? outcome.answer : null) ?? {};
  const isHalting = outcome.stop === "still-halting";
  return context.print({ stop: outcome.stop, kept, halted, remaining }, stopLines(outcome), isHalting);
}

function stopLines(outcome: StopOutcome): string[] {
  if (outcome.stop === "not-running") return ["Holdfast is not running."];
  if (outcome.stop === "stopped") return [stoppedLine(outcome)];
  return [
    `Still running: ${outcome.answer.remaining.toSorted(compareNaturally).join(", ")}.`,
    "The daemon exits once they have stopped. To kill them immediately: holdfast session kill",
  ];
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
