/** Actions that stop a run, or record its end. */
import { reach } from "../../base/test-points.ts";
import type { Action } from "../../model/facts.ts";
import type { Observation } from "../../ports/runtime.ts";
import type { FactEvent } from "../../contract/event.ts";
import type { SessionState } from "../../model/session.ts";
import type { ExitStatus } from "../../contract/ids.ts";
import type { Services } from "../services.ts";
import { conversationKnown, type Outcome } from "../record.ts";
import { lastWord } from "./prompts.ts";

type Needs = Pick<Services, "store" | "runtimes" | "clock" | "log">;

/** The process tree must be gone within 10 s of a kill. */
const stopDeadlineMs = 9_000;
const stopRetryMs = 1_000;

export async function recordEnd(
  services: Needs,
  session: SessionState,
  action: Extract<Action, { do: "record-end" }>,
  seen: Observation,
): Promise<Outcome> {
  const started = session.run;
  if (started.run !== "up" && started.run !== "launching") return "done";
  const known = seen.seen.is === "known" ? seen.seen.value : null;
  const last = await lastWord(services, session);
  await services.store.commit(session.id, (state) =>
    state.run.run === started.run && state.run.launch === started.launch
      ? [
          ...conversationKnown(session, known?.agentSessionId ?? null),
          ...last,
          ended(services, session, action.how, action.exit, action.lastLines),
        ]
      : [],
  );
  // Leftovers of the agent (a dead pane, its children) are removed once its end is recorded.
  if (known !== null) await services.runtimes[session.kind].stop(session, { force: false, deadlineMs: stopDeadlineMs });
  return "done";
}

export function ended(
  services: Pick<Services, "clock">,
  session: SessionState,
  how: "own-exit" | "crash" | "stopped" | "lost",
  exit: ExitStatus | null,
  lastLines: string[],
): FactEvent {
  if (session.run.run !== "up" && session.run.run !== "launching") throw new Error(`${session.id} has no run to end`);
  const uptimeMs = Math.max(0, services.clock.now() - session.run.at);
  return { type: "run.ended", launch: session.run.launch, how, exit, uptimeMs, lastLines };
}

export async function stop(services: Needs, session: SessionState): Promise<Outcome> {
  // Before the files of its hooks are removed.
  const last = await lastWord(services, session);
  const { remaining, exit, lastLines } = await services.runtimes[session.kind].stop(session, {
    force: false,
    deadlineMs: stopDeadlineMs,
  });
  if (remaining.length > 0) {
    services.log.warn("some processes have not exited yet", { session: session.id, remaining });
    return { retryInMs: stopRetryMs };
  }
  await reach("stop.ended", session.id);
  const { run } = session;
  if (run.run === "up" || run.run === "launching") {
    await services.store.commit(session.id, (state) =>
      (state.run.run === "up" || state.run.run === "launching") && state.run.launch === run.launch
        ? [...last, ended(services, session, "stopped", exit, lastLines)]
        : [],
    );
  }
  return "done";
}
