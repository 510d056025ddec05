/** Reading and writing a session's record, and how an action ends. */
import type { FactEvent, StoredEvent } from "../contract/event.ts";
import type { PromptId, SessionId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import type { Observation } from "../ports/runtime.ts";
import type { EventsWanted, Store } from "../ports/store.ts";
import type { Services } from "./services.ts";

/** `seen`: the action already knows the new observation, so none is made after it. */
export type Outcome = "done" | { retryInMs: number; /** Why a prompt is held. */ why?: string } | { seen: Observation };

/** A flood produces events of a megabyte each: this bounds how much is in memory. */
export const eventPage = { limit: 5_000, chars: 4 * 1024 * 1024 };

export function lastEvent(
  store: Store,
  id: SessionId,
  wanted: Pick<EventsWanted, "after" | "before" | "types">,
): StoredEvent | undefined {
  return store.someEvents(id, { ...wanted, newest: true, ...eventPage, limit: 1 })[0];
}

export async function record(
  { store }: Pick<Services, "store">,
  session: SessionState,
  events: FactEvent[],
): Promise<"done"> {
  await store.commit(session.id, () => events);
  return "done";
}

/** The event that links the session to the agent's conversation, unless the record already names it. */
export function conversationKnown(session: SessionState, agentSessionId: string | null): FactEvent[] {
  return agentSessionId === null || agentSessionId === session.agentSessionId
    ? []
    : [{ type: "conversation.pinned", agentSessionId }];
}

export function requeued(promptId: PromptId, reason: string): FactEvent {
  return { type: "prompt.requeued", promptId, reason };
}
