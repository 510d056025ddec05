/** What `session restore` prints. */
import type { SessionJson } from "../../contract/wire.ts";
import { clean } from "./text.ts";

export function restoredLines(session: Pick<SessionJson, "id" | "workspacePath" | "branch">): string[] {
  return [
    `Session ${session.id} restored.`,
    `  Worktree: ${clean(session.workspacePath)}`,
    ...(session.branch === null ? [] : [`  Branch:   ${clean(session.branch)}`]),
    `  Attach:   holdfast attach ${session.id}`,
  ];
}
