/** Actions of a conversion. The intent that asks for it is on record first, so each of them can be repeated after a crash. */
import { reach } from "../../base/test-points.ts";
import { conversionEvents, freshReason } from "../../model/lifecycle.ts";
import type { SessionState } from "../../model/session.ts";
import { forgetConversation } from "../forget-conversation.ts";
import type { Services } from "../services.ts";
import { stop } from "./stop.ts";
import type { Outcome } from "./execute.ts";
import { lastEvent } from "../read-events.ts";
import { record } from "../record.ts";

type Needs = Pick<
  Services,
  "store" | "runtimes" | "agents" | "settings" | "programs" | "clock" | "log" | "home" | "agentsSocket" | "capabilities"
>;

/** Whether this is a chat whose conversation you asked to discard: only then may the agent be asked to delete it. */
export function isDiscarded({ kind, intent }: SessionState): boolean {
  return kind === "chat" && intent.want === "running" && intent.convert?.fresh === true;
}

/** Asked again right before: what you took back meanwhile discards nothing. */
function isStillDiscarded({ store }: Pick<Services, "store">, { id, intent }: SessionState): boolean {
  const now = store.session(id);
  return now !== null && now.intent.seq === intent.seq && isDiscarded(now);
}

/** Only a living agent can delete its copy. That it did is on record before the kind changes. */
export async function stopAndDiscard(services: Needs, session: SessionState): Promise<Outcome> {
  if (!isStillDiscarded(services, session)) return stop(services, session);
  const asked = await services.runtimes.chat.deleteConversation(session);
  await reach("convert.discarded", session.id);
  const outcome = await stop(services, session);
  if (outcome !== "done" || asked !== "deleted") return outcome;
  return record(services, session, [{ type: "context.reset", reason: freshReason, previous: session.agentSessionId }]);
}

/** Nothing of the old kind runs any more. */
export async function convertKind(services: Needs, session: SessionState): Promise<"done"> {
  const { seq } = session.intent;
  const isReset = lastEvent(services.store, session.id, { after: seq, types: ["context.reset"] }) !== undefined;
  if (isStillDiscarded(services, session) && !isReset) await forgetConversation(services, session, "not-running");
  await reach("convert.stopped", session.id);
  await services.store.change(session.id, (state) => conversionEvents(session, state, isReset));
  return "done";
}
