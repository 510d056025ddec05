/** The text of a prompt as it is to be sent: the one that admitted it, or the last edit while it waited. */
import type { PromptId } from "../protocol/ids.ts";
import type { SessionState } from "../protocol/session.ts";
import type { Parts } from "./parts.ts";

export function promptToSend(
  parts: Parts,
  session: SessionState,
  promptId: PromptId,
): { promptId: PromptId; text: string } {
  const edited = session.queue.find((prompt) => prompt.promptId === promptId)?.editedSeq;
  const event = edited === undefined ? undefined : parts.store.events(session.id, edited - 1, 1)[0];
  const text = event?.type === "prompt.edited" ? event.text : parts.store.prompt(session.id, promptId)?.text;
  if (text === undefined) throw new Error(`prompt ${promptId} of ${session.id} has no text`);
  return { promptId, text };
}
