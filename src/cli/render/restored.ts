/** What `session restore` prints. */
import type { SessionJson } from "../../protocol/wire.ts";
import { clean } from "./text.ts";

export function restoredLines(session: Pick<SessionJson, "id" | "workspacePath" | "branch" | "attach">): string[] {
  return [
    `Session ${session.id} restored.`,
    `  Worktree: ${clean(session.workspacePath)}`,
    ...(session.branch === null ? [] : [`  Branch:   ${clean(session.branch)}`]),
    `  Attach:   ${session.attach === null ? `holdfast attach ${session.id}` : clean(session.attach)}`,
  ];
}
