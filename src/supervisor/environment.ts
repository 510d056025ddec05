/** What an agent of a session finds in its environment beyond the daemon's own. */
import { passedOn } from "../base/clean-env.ts";
import { capabilityVariable, socketVariable } from "../contract/caller.ts";
import { HoldfastError } from "../contract/error.ts";
import type { LaunchId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import { isShellSession } from "./callers.ts";
import type { Services } from "./services.ts";

type Needs = Pick<Services, "agents" | "settings" | "programs" | "home" | "agentsSocket" | "capabilities">;

/** @param launch null for a command of the agent that is no launch of it. */
export async function environmentFor(
  services: Needs,
  session: SessionState,
  launch: LaunchId | null,
): Promise<Record<string, string>> {
  const { env, passEnv } = await services.settings.forSession(session.project);
  const lost = services.settings.lostEnv(session.project);
  if (lost.length > 0) {
    // Without them it would be another agent: with another account, or without its proxy.
    throw new HoldfastError(
      "invalid",
      `The values of ${lost.join(", ")} are in the configuration of ${session.project}, which cannot be read.`,
      {
        hint: "Correct the file: holdfast doctor shows the line. The session starts then.",
      },
    );
  }
  const program = services.programs.of(session);
  return {
    ...passedOn(process.env, passEnv),
    ...env,
    ...services.agents.of(session)?.env,
    // With the folder that its program was last found in, where it is in none of the others.
    ...(program?.is === "found" && program.remembered !== null ? { PATH: program.path } : {}),
    HOLDFAST_SESSION: session.id,
    HOLDFAST_PROJECT: session.project,
    HOLDFAST_ROLE: session.role,
    HOLDFAST_HOME: services.home,
    ...(launch === null ? {} : await doorOf(services, session, launch)),
  };
}

/** A shell is the person, and asks where the person does. */
async function doorOf(services: Needs, session: SessionState, launch: LaunchId): Promise<Record<string, string>> {
  if (isShellSession(services, session)) return {};
  const capability = await services.capabilities.of({ session: session.id, launch });
  return { [socketVariable]: services.agentsSocket, [capabilityVariable]: capability };
}
