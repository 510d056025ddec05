/** Waits until what was asked of a session has come about, or says why it has not. */
import { HoldfastError } from "../contract/errors.ts";
import type { SessionState } from "../model/session.ts";
import type { SessionJson } from "../contract/session.ts";
import type { Loop } from "./loop.ts";
import type { Services } from "./services.ts";
import { currentStatus, sessionJson } from "./view.ts";

/** A large checkout and a slow agent together may take this long; the spawn goes on behind an answer that gave up. */
const spawnDeadlineMs = 180_000;
/** A failure that passes is tried again before the caller hears of it. */
const triesBeforeAnswer = 3;

/** Until the agent runs or has failed since it was asked for, with the reason. */
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
    const down = unmade || tries >= triesBeforeAnswer || loop.missingProgram(id) !== null;
    return state.intent.want !== "running" || up || concluded || down;
  };
  await loop.waitFor(id, over, spawnDeadlineMs, signal);
  if (last.intent.want !== "running" && last.run.run !== "up") throw takenBack(last);
  const notCreated = whyNotCreated(last);
  if (notCreated !== null) throw neverMade(last, notCreated);
  const json = sessionJson(services, loop, last);
  const { status, reason } = currentStatus(services, loop, last);
  const trouble = last.run.run === "up" ? null : loop.lastError(id);
  if (trouble !== null) {
    throw new HoldfastError("launch-failed", `${last.agent} has not started in ${id} yet: ${trouble.message}`, {
      hint: `It is tried again: see holdfast session show ${id}, or end it with holdfast session kill ${id}.`,
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

/** Somebody else had another wish while this one was waited for. */
function takenBack({ id, intent }: SessionState): HoldfastError {
  return new HoldfastError("conflict", `${id} was ${intent.want} before its agent ran.`, {
    hint: `See holdfast session show ${id}.`,
  });
}

function whyNotCreated({ workspace }: SessionState): string | null {
  return workspace.at === "planned" ? (workspace.failed ?? null) : null;
}

/** A fact, and no change of what you asked for: the session is listed as failed, and can be tried again. */
function neverMade({ id }: SessionState, why: string): HoldfastError {
  return new HoldfastError("launch-failed", `The worktree of ${id} could not be created: ${why}`, {
    hint: `Nothing of it was left behind. Fix the cause and retry: holdfast session restore ${id}, or remove it: holdfast session delete ${id}`,
  });
}
