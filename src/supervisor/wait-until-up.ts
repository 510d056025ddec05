/** Waits until a session's agent is up, or reports why it is not. */
import { HoldfastError } from "../contract/errors.ts";
import type { SessionState } from "../model/session.ts";
import type { SessionJson } from "../contract/session.ts";
import type { Loop } from "./loop.ts";
import type { Services } from "./services.ts";
import { currentStatus, sessionJson } from "./view.ts";

/** A large checkout and a slow agent together may take this long; the spawn continues after the response. */
const spawnDeadlineMs = 180_000;
/** Temporary failures are retried before they are reported. */
const triesBeforeResponse = 3;

/** Resolves once the agent runs; throws with the reason once it has failed since the request. */
export async function waitUntilUp(
  services: Pick<Services, "store" | "runtimes" | "workspaces" | "settings" | "clock" | "restore" | "polledAt">,
  loop: Loop,
  asked: SessionState,
  signal: AbortSignal,
): Promise<SessionJson> {
  const { id } = asked;
  let last = asked;
  const over = (): boolean => {
    const state = services.store.session(id);
    if (state === null) return true;
    last = state;
    const { run } = state;
    const concluded = (run.run === "failed" || run.run === "ended") && run.seq > asked.seq;
    const up = run.run === "up" && loop.observation(state)?.seen.is !== "absent";
    const tries = loop.lastError(id)?.count ?? 0;
    const unmade = state.workspace.at === "gone" || whyNotCreated(state) !== null;
    const down = unmade || tries >= triesBeforeResponse || loop.missingProgram(id) !== null;
    return state.intent.want !== "running" || up || concluded || down;
  };
  await loop.waitFor(id, over, spawnDeadlineMs, signal);
  if (last.intent.want !== "running" && last.run.run !== "up") throw superseded(last);
  const notCreated = whyNotCreated(last);
  if (notCreated !== null) throw notCreatedError(last, notCreated);
  const json = sessionJson(services, loop, last);
  const { status, reason } = currentStatus(services, loop, last);
  const problem = last.run.run === "up" ? null : loop.lastError(id);
  if (problem !== null) {
    throw new HoldfastError("launch-failed", `${last.agent} has not started in ${id} yet: ${problem.message}`, {
      hint: `Holdfast is retrying. Details: holdfast session show ${id}. To stop it: holdfast session kill ${id}`,
    });
  }
  if (status !== "failed") return json;
  const lines = last.run.run === "failed" || last.run.run === "ended" ? last.run.lastLines : [];
  throw new HoldfastError(
    "launch-failed",
    [
      `${last.agent} did not start in ${id}: ${reason ?? "it failed"}`,
      ...lines.slice(-10).map((line) => `  ${line}`),
    ].join("\n"),
    {
      hint: `The session is kept: holdfast session show ${id}, then holdfast session restore ${id} or holdfast session kill ${id}.`,
    },
  );
}

/** Another request changed the intent meanwhile. */
function superseded({ id, intent }: SessionState): HoldfastError {
  return new HoldfastError("conflict", `${id} was ${intent.want} before its agent ran.`, {
    hint: `See holdfast session show ${id}.`,
  });
}

function whyNotCreated({ workspace }: SessionState): string | null {
  return workspace.at === "planned" ? (workspace.failed ?? null) : null;
}

/** The intent is unchanged: the session is listed as failed, and can be retried. */
function notCreatedError({ id }: SessionState, why: string): HoldfastError {
  return new HoldfastError("launch-failed", `The worktree of ${id} could not be created: ${why}`, {
    hint: `Everything was rolled back. Fix the cause and retry: holdfast session restore ${id}, or remove it: holdfast session delete ${id}`,
  });
}
