/** What an agent of a session finds in its environment beyond the daemon's own. */
import type { SessionState } from "../protocol/session.ts";
import type { Parts } from "./parts.ts";

export async function environmentFor(parts: Parts, session: SessionState): Promise<Record<string, string>> {
  return {
    ...(await parts.settings.forSession(session.project)).env,
    ...parts.agents.get(session.agent)?.env,
    HOLDFAST_SESSION: session.id,
    HOLDFAST_PROJECT: session.project,
    HOLDFAST_ROLE: session.role,
    HOLDFAST_HOME: parts.home,
  };
}
