/** Giving a prompt to an agent that runs. */
import { reach } from "../base/test-points.ts";
import type { PromptToSend } from "../ports/runtime.ts";
import type { PromptId } from "../protocol/ids.ts";
import type { SessionState } from "../protocol/session.ts";
import type { Parts } from "./parts.ts";
import type { Outcome } from "./perform.ts";
import { hasImage, promptToSend, typedPrompt, wholePrompt } from "./prompt-text.ts";
import { record, requeued, runtimeOf } from "./record.ts";

/** A prompt that could not be typed now is tried again after this, or when something changes. */
const sendRetryMs = 3_000;

export async function deliver(parts: Parts, session: SessionState, promptId: PromptId): Promise<Outcome> {
  if (session.run.run !== "up") return "done";
  const prompt = promptToSend(parts, session, promptId);
  if (session.kind === "chat") return tell(parts, session, wholePrompt(parts, session, prompt));
  // Admitted while it was a chat: a terminal has no way for an image.
  if (hasImage(prompt)) return refused(parts, session, promptId, "a terminal session takes no images");
  await record(parts, session, [{ type: "prompt.sending", promptId, launch: session.run.launch }]);
  await reach("prompt.recorded");
  const result = await runtimeOf(parts, session).send(session, typedPrompt(prompt));
  await reach("prompt.typed");
  switch (result.sent) {
    case "seen":
      return record(parts, session, [{ type: "prompt.sent", promptId, seenBy: result.by }]);
    case "doubtful":
      return record(parts, session, [{ type: "prompt.doubtful", promptId, reason: result.why }]);
    case "not-now":
      await record(parts, session, [requeued(promptId, result.why)]);
      return { retryInMs: sendRetryMs };
    case "refused":
      return refused(parts, session, promptId, result.why);
    default:
      result satisfies never;
      return "done";
  }
}

/** A chat runtime records the prompt in the same commit as the line it writes: there is nothing to be settled here. */
async function tell(parts: Parts, session: SessionState, prompt: PromptToSend): Promise<Outcome> {
  const result = await runtimeOf(parts, session).send(session, prompt);
  await reach("prompt.typed");
  if (result.sent === "refused") return refused(parts, session, prompt.promptId, result.why);
  if (result.sent === "doubtful")
    parts.log.warn("a prompt could not be written", { session: session.id, why: result.why });
  return result.sent === "seen" ? "done" : { retryInMs: sendRetryMs };
}

function refused(parts: Parts, session: SessionState, promptId: PromptId, reason: string): Promise<Outcome> {
  return record(parts, session, [{ type: "prompt.refused", promptId, reason }]);
}
