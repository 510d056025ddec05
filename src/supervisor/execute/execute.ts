/**
 * Carries out one action: records what it is about to do, does it, records what came of it. Each can be repeated after
 * a crash at any point, because the next decision is made from what is then seen.
 */
import { Slots } from "../../base/async.ts";
import { reach } from "../../base/test-points.ts";
import type { Action } from "../../model/facts.ts";
import { policyActors } from "../../model/lifecycle.ts";
import type { Observation } from "../../ports/runtime.ts";
import type { SessionState } from "../../model/session.ts";
import { changeByPolicy } from "../apply-verb.ts";
import { forgetConversation } from "../forget-conversation.ts";
import type { Parts } from "../services.ts";
import { convertKind, isDiscarded, stopAndDiscard } from "./convert.ts";
import { recordEnd, stop } from "./stop.ts";
import { adopt, launch } from "./launch.ts";
import { deliver } from "./deliver.ts";
import { settlePrompt } from "../settle-prompt.ts";
import { createWorkspace, removeWorkspace, restoreWorkspace } from "./worktree.ts";
import { record } from "../record.ts";
import { adoptUnrecorded, stayEnded } from "../unrecorded.ts";

/** `seen`: the action itself tells how it looks now, so that no look is needed behind it. */
export type Outcome = "done" | { retryInMs: number; /** Why a prompt waits. */ why?: string } | { seen: Observation };
export type Perform = (session: SessionState, action: Action, seen: Observation) => Promise<Outcome>;

/** Starts at once: more would make each of them slow and the machine unusable after a reboot. */
const startsAtOnce = 4;
/** Real agents open within this; one that hangs in its start must not keep the others from theirs. */
const startHoldsMs = 8_000;

export function createPerform(parts: Parts): Perform {
  const starts = new Slots(startsAtOnce, startHoldsMs);
  return async (session, action, seen) => {
    await reach(`perform.${action.do}`, session.id);
    switch (action.do) {
      case "create-workspace":
        return createWorkspace(parts, session);
      case "end-making":
        await parts.workspaces.stopCreating(session.workspacePath);
        return "done";
      case "restore-workspace":
        return restoreWorkspace(parts, session);
      case "remove-workspace":
        return removeWorkspace(parts, session);
      case "launch":
        return starts.run(() => launch(parts, session, action));
      case "adopt":
        return adopt(parts, session, seen);
      case "adopt-unrecorded":
        return adoptUnrecorded(parts, session, seen);
      case "stay-ended":
        return stayEnded(parts, session);
      case "deliver":
        return deliver(parts, session, action.prompt);
      case "settle-prompt":
        return settlePrompt(parts, session, action.prompt);
      case "settle-turn":
        return settleTurn(parts, session, action.as);
      case "record-end":
        return recordEnd(parts, session, action, seen);
      case "reset-context":
        return record(parts, session, [
          { type: "context.reset", reason: action.why, previous: session.agentSessionId },
        ]);
      case "stop":
        if (session.kind === "chat" && action.why === "deleted") return stopAndForget(parts, session);
        if (isDiscarded(session) && action.why === "convert") return stopAndDiscard(parts, session);
        if (session.kind === "chat" && action.why === "restart") parts.runtimes.chat.markRestarting(session);
        return stop(parts, session);
      case "convert":
        return convertKind(parts, session);
      case "wake":
        return wake(parts, session);
      case "wait":
        return "done";
      default:
        action satisfies never;
        return "done";
    }
  };
}

/** Only a living agent can be asked; its own command needs it gone. */
async function stopAndForget(parts: Parts, session: SessionState): Promise<Outcome> {
  const asked = await parts.runtimes.chat.deleteConversation(session);
  const outcome = await stop(parts, session);
  if (outcome === "done") await forgetConversation(parts, session, asked);
  return outcome;
}

async function settleTurn(parts: Parts, session: SessionState, stopReason: string): Promise<"done"> {
  await parts.store.change(session.id, ({ turn }) =>
    turn.turn === "open" ? [{ type: "turn.ended", stopReason, promptId: turn.prompt }] : [],
  );
  return "done";
}

async function wake(parts: Parts, session: SessionState): Promise<"done"> {
  await changeByPolicy(parts, session, { verb: "end-snooze", snooze: session.intent.seq }, policyActors.snoozeTimer);
  return "done";
}
