/** A conversation that is removed for good: the agent's own copy goes too where that can be done, else the person is told. */
import type { DeleteOutcome } from "../ports/chat.ts";
import { HoldfastError } from "../contract/error.ts";
import type { SessionState } from "../model/session.ts";
import { environmentFor } from "./environment.ts";
import type { Services } from "./services.ts";

/** `asked`: what the living agent said to `session/delete`. Only once nothing of the session runs any more. */
export async function forgetConversation(
  services: Pick<
    Services,
    "store" | "runtimes" | "agents" | "settings" | "programs" | "home" | "agentsSocket" | "capabilities"
  >,
  session: SessionState,
  asked: DeleteOutcome,
): Promise<void> {
  // One that never got a prompt was never kept by any agent.
  if (asked === "deleted" || session.agentSessionId === null || !session.prompted) return;
  const env = await environmentFor(services, session, null).catch(() => null);
  const own = env === null ? "none" : await services.runtimes.chat.deleteByCommand(session, env);
  if (own !== "deleted") await noteKeptConversation(services, session);
}

/** Puts on record that the agent keeps its transcript, and how to remove it where that is known. */
export async function noteKeptConversation(
  services: Pick<Services, "store" | "agents">,
  session: SessionState,
): Promise<void> {
  if (session.agentSessionId === null || !session.prompted) return;
  const agent = services.agents.of(session);
  const hint = agent?.chat?.deleteHint;
  const text = `${agent?.label ?? session.agent} keeps its own copy of this conversation (${session.agentSessionId}).`;
  const noted = services.store.change(session.id, () => [
    { type: "notice", level: "warn", text: hint === undefined ? text : `${text} ${hint}` },
  ]);
  await noted.catch((error: unknown) => {
    // A deleted session of which nothing is left may be purged meanwhile: the delete is done all the same [DEL-201].
    if (!(error instanceof HoldfastError) || error.code !== "not-found") throw error;
  });
}
