/** What an agent of a session finds in its environment beyond the daemon's own. */
import { passedOn } from "../base/clean-env.ts";
import type { SessionState } from "../protocol/session.ts";
import type { Parts } from "./parts.ts";

export async function environmentFor(parts: Parts, session: SessionState): Promise<Record<string, string>> {
  const { env, passEnv } = await parts.settings.forSession(session.project);
  const program = parts.programs.of(session);
  return {
    ...passedOn(process.env, passEnv),
    ...env,
    ...parts.agents.of(session)?.env,
    // With the folder that its program was last found in, where it is in none of the others.
    ...(program?.is === "found" && program.remembered !== null ? { PATH: program.path } : {}),
    HOLDFAST_SESSION: session.id,
    HOLDFAST_PROJECT: session.project,
    HOLDFAST_ROLE: session.role,
    HOLDFAST_HOME: parts.home,
  };
}
