/** What `spawn` and `batch-spawn` print. */
import type { SessionJson } from "../../contract/wire.ts";
import { clean, count } from "./text.ts";

export function spawnedLines(
  session: Pick<SessionJson, "id" | "agent" | "project" | "workspacePath" | "branch" | "status" | "processes">,
): string[] {
  // An agent that runs but is not ready for input is `starting` as well.
  const isUp = session.status !== "starting" || session.processes.length > 0;
  return [
    `Session ${session.id} ${isUp ? "is running" : "is starting"} (${clean(session.agent)}, ${clean(session.project)}).`,
    `  Worktree: ${clean(session.workspacePath)}`,
    ...(session.branch === null ? [] : [`  Branch:   ${clean(session.branch)}`]),
    `  Attach:   holdfast attach ${session.id}`,
    `SESSION=${session.id}`,
  ];
}

export type BatchResult = { issue: string } & ({ session: string; error: null } | { session: null; error: string });

export function batchLine(result: BatchResult): string {
  return result.session === null
    ? `  Error spawning ${clean(result.issue)}: ${clean(result.error)}`
    : `  Spawned: ${result.session} (${clean(result.issue)})`;
}

export function batchSummary(results: readonly BatchResult[]): string {
  const failed = results.filter(({ session }) => session === null).length;
  return `${count(results.length - failed, "session")} spawned${failed === 0 ? "" : `, ${failed} failed`}.`;
}
