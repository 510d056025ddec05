/**
 * Executes one action: records the attempt, acts, records the outcome. Each action can be repeated after a crash at any
 * point, because the next decision starts from a new observation.
 */
import { Slots } from "../../base/async.ts";
import { reach } from "../../base/test-points.ts";
import type { Action } from "../../model/facts.ts";
import { policyActors } from "../../model/lifecycle.ts";
import type { Observation } from "../../ports/runtime.ts";
import type { SessionState } from "../../model/session.ts";
import { commitPolicyVerb } from "../apply-verb.ts";
import { convertKind, isDiscarded, stopAndDiscard, stopAndForget } from "./conversation.ts";
import type { Services } from "../services.ts";
import { recordEnd, stop } from "./stop.ts";
import { adopt, launch } from "./launch.ts";
import { deliver } from "./deliver.ts";
import { settlePrompt } from "./prompts.ts";
import { createWorkspace, removeWorkspace, restoreWorkspace } from "./worktree.ts";
import { record, type Outcome } from "../record.ts";
import { adoptUnrecorded, stayEnded } from "../unrecorded.ts";

type Needs = Pick<
  Services,
  | "store"
  | "runtimes"
  | "workspaces"
  | "agents"
  | "settings"
  | "programs"
  | "clock"
  | "log"
  | "home"
  | "agentsSocket"
  | "capabilities"
>;

export type Executor = (session: SessionState, action: Action, seen: Observation) => Promise<Outcome>;

/** Concurrent starts: more would make each of them slow and the machine unusable after a reboot. */
const startsAtOnce = 4;
/** Real agents start within this; one that hangs must not block the others. */
const startHoldsMs = 8_000;

export function createExecutor(services: Needs): Executor {
  const starts = new Slots(startsAtOnce, startHoldsMs);
  return async (session, action, seen) => {
    await reach(`execute.${action.do}`, session.id);
    switch (action.do) {
      case "create-workspace":
        return createWorkspace(services, session);
      case "cancel-create":
        await services.workspaces.cancelCreate(session.workspacePath);
        return "done";
      case "restore-workspace":
        return restoreWorkspace(services, session);
      case "remove-workspace":
        return removeWorkspace(services, session);
      case "launch":
        return starts.run(() => launch(services, session, action));
      case "adopt":
        return adopt(services, session, seen);
      case "adopt-unrecorded":
        return adoptUnrecorded(services, session, seen);
      case "stay-ended":
        return stayEnded(services, session);
      case "deliver":
        return deliver(services, session, action.prompt);
      case "settle-prompt":
        return settlePrompt(services, session, action.prompt);
      case "settle-turn":
        return settleTurn(services, session, action.as);
      case "record-end":
        return recordEnd(services, session, action, seen);
      case "reset-context":
        return record(services, session, [
          { type: "context.reset", reason: action.why, previous: session.agentSessionId },
        ]);
      case "stop":
        if (session.kind === "chat" && action.why === "deleted") return stopAndForget(services, session);
        if (isDiscarded(session) && action.why === "convert") return stopAndDiscard(services, session);
        if (session.kind === "chat" && action.why === "restart") services.runtimes.chat.markRestarting(session);
        return stop(services, session);
      case "convert":
        return convertKind(services, session);
      case "wake":
        await commitPolicyVerb(
          services,
          session,
          { verb: "end-snooze", snooze: session.intent.seq },
          policyActors.snoozeTimer,
        );
        return "done";
      case "wait":
        return "done";
      default:
        action satisfies never;
        return "done";
    }
  };
}

async function settleTurn(
  services: Pick<Services, "store">,
  session: SessionState,
  stopReason: string,
): Promise<"done"> {
  await services.store.commit(session.id, ({ turn }) =>
    turn.turn === "open" ? [{ type: "turn.ended", stopReason, promptId: turn.prompt }] : [],
  );
  return "done";
}
