/** `acp ps`. */
import type { WorkerJson } from "../../contract/wire.ts";
import { clean, table } from "./text.ts";
import { formatAgeOf } from "../../model/duration.ts";
import { compareNaturally } from "../../model/text.ts";

const head = ["PID", "SESSION", "AGENT", "STATE", "BUILD", "DETACHED", "UPTIME"];

export function workerLines(workers: readonly WorkerJson[], now: number): string[] {
  if (workers.length === 0) return ["No chat agent is running."];
  const rows = workers
    .toSorted((a, b) => compareNaturally(a.session, b.session))
    .map(({ pid, session, agent, state, build, stale, detached, startedAt }) => [
      pid === null ? "-" : String(pid),
      clean(session),
      clean(agent),
      clean(state),
      `${clean(build)}${stale ? " (stale)" : ""}`.trim(),
      detached ? "yes" : "no",
      formatAgeOf(startedAt, now),
    ]);
  return table([head, ...rows]);
}
