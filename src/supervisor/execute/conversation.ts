/** Actions on a session's conversation: convert, discard, delete. The intent is recorded first, so each can be repeated after a crash. */
import { reach } from "../../base/test-points.ts";
import { conversionEvents, freshReason } from "../../model/lifecycle.ts";
import type { SessionState } from "../../model/session.ts";
import type { Services } from "../services.ts";
import { stop } from "./stop.ts";
import { lastEvent, record, type Outcome } from "../record.ts";
import type { DeleteOutcome } from "../../ports/chat.ts";
import { HoldfastError } from "../../contract/errors.ts";
import { environmentFor } from "./launch.ts";

type Needs = Pick<
  Services,
  "store" | "runtimes" | "agents" | "settings" | "programs" | "clock" | "log" | "home" | "agentsSocket" | "capabilities"
>;

/** Whether the user discards this chat's conversation: only then may the agent be asked to delete it. */
export function isDiscarded({ kind, intent }: SessionState): boolean {
  return kind === "chat" && intent.want === "running" && intent.convert?.fresh === true;
}

/** Checked again right before: a withdrawn conversion discards nothing. */
function isStillDiscarded({ store }: Pick<Services, "store">, { id, intent }: SessionState): boolean {
  const now = store.session(id);
  return now !== null && now.intent.seq === intent.seq && isDiscarded(now);
}

/** Only a live agent can delete its copy. The deletion is recorded before the kind changes. */
export async function stopAndDiscard(services: Needs, session: SessionState): Promise<Outcome> {
  if (!isStillDiscarded(services, session)) return stop(services, session);
  const asked = await services.runtimes.chat.deleteConversation(session);
  await reach("convert.discarded", session.id);
  const outcome = await stop(services, session);
  if (outcome !== "done" || asked !== "deleted") return outcome;
  return record(services, session, [{ type: "context.reset", reason: freshReason, previous: session.agentSessionId }]);
}

/** Runs once nothing of the old kind is running. */
export async function convertKind(services: Needs, session: SessionState): Promise<"done"> {
  const { seq } = session.intent;
  const isReset = lastEvent(services.store, session.id, { after: seq, types: ["context.reset"] }) !== undefined;
  if (isStillDiscarded(services, session) && !isReset) await forgetConversation(services, session, "not-running");
  await reach("convert.stopped", session.id);
  await services.store.commit(session.id, (state) => conversionEvents(session, state, isReset));
  return "done";
}

/** @param asked the live agent's response to `session/delete`. Runs once nothing of the session is running. */
export async function forgetConversation(
  services: Omit<Needs, "clock" | "log">,
  session: SessionState,
  asked: DeleteOutcome,
): Promise<void> {
  // No agent stores a conversation without a prompt.
  if (asked === "deleted" || session.agentSessionId === null || !session.prompted) return;
  const env = await environmentFor(services, session, null).catch(() => null);
  const own = env === null ? "none" : await services.runtimes.chat.deleteByCommand(session, env);
  if (own !== "deleted") await noteConversationStays(services, session);
}

/** Records that the agent keeps its copy, and how to remove it if that is known. */
export async function noteConversationStays(
  services: Pick<Services, "store" | "agents">,
  session: SessionState,
): Promise<void> {
  if (session.agentSessionId === null || !session.prompted) return;
  const agent = services.agents.of(session);
  const hint = agent?.chat?.deleteHint;
  const text = `${agent?.label ?? session.agent} keeps its own copy of this conversation (${session.agentSessionId}).`;
  const noted = services.store.commit(session.id, () => [
    { type: "notice", level: "warn", text: hint === undefined ? text : `${text} ${hint}` },
  ]);
  await noted.catch((error: unknown) => {
    // A deleted session may be purged meanwhile: the delete is done all the same [DECIDE-27].
    if (!(error instanceof HoldfastError) || error.code !== "not-found") throw error;
  });
}

/** Only a live agent can be asked; its own command requires it to be stopped. */
export async function stopAndForget(services: Needs, session: SessionState): Promise<Outcome> {
  const asked = await services.runtimes.chat.deleteConversation(session);
  const outcome = await stop(services, session);
  if (outcome === "done") await forgetConversation(services, session, asked);
  return outcome;
}
