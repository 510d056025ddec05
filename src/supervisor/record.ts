/** What every action does around its deed: write events, and find the runtime of a session. */
import type { Runtime } from "../ports/runtime.ts";
import type { FactEvent } from "../contract/event.ts";
import type { PromptId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import type { Services } from "./services.ts";

export async function record(
  services: Pick<Services, "store">,
  session: SessionState,
  events: FactEvent[],
): Promise<"done"> {
  await services.store.change(session.id, () => events);
  return "done";
}

export function runtimeOf(services: Pick<Services, "runtimes">, session: SessionState): Runtime {
  return services.runtimes[session.kind];
}

export function pinned(session: SessionState, agentSessionId: string | null): FactEvent[] {
  return agentSessionId === null || agentSessionId === session.agentSessionId
    ? []
    : [{ type: "conversation.pinned", agentSessionId }];
}

export function requeued(promptId: PromptId, reason: string): FactEvent {
  return { type: "prompt.requeued", promptId, reason };
}
