/** Delivers a prompt to a running agent. */
import { reach } from "../../base/test-points.ts";
import type { PromptToSend } from "../../ports/runtime.ts";
import type { PromptId } from "../../contract/ids.ts";
import type { SessionState } from "../../model/session.ts";
import type { Services } from "../services.ts";
import { hasImage, promptToSend, typedPrompt, fullPrompt, confirmRetryMs, tryAgain } from "./prompts.ts";
import { record, requeued, type Outcome } from "../record.ts";

type Needs = Pick<Services, "store" | "runtimes" | "log">;

/** A prompt that cannot be typed now is retried after this, or on the next change. */
const sendRetryMs = 1_000;

export async function deliver(services: Needs, session: SessionState, promptId: PromptId): Promise<Outcome> {
  if (session.run.run !== "up") return "done";
  const prompt = promptToSend(services, session, promptId);
  if (session.kind === "chat") return deliverToChat(services, session, fullPrompt(services, session, prompt));
  // Admitted while the session was a chat: a terminal cannot show an image to its agent.
  if (hasImage(prompt)) return refused(services, session, promptId, "terminal sessions do not accept images");
  const { launch } = session.run;
  let begun = false;
  const result = await services.runtimes.terminal.send(session, typedPrompt(prompt), {
    // Recorded before the first key: a crash from here on must not type it twice. After a kill, a stop or a withdrawal
    // nothing is typed.
    begin: async (mark) => {
      const now = await services.store.commit(session.id, (state) =>
        isDue(state, promptId) ? [{ type: "prompt.sending", promptId, launch, mark }] : [],
      );
      begun = now.queue.some((waiting) => waiting.promptId === promptId && waiting.state === "sending");
      if (begun) await reach("prompt.recorded", session.id);
      return begun;
    },
    wanted: () => services.store.session(session.id)?.intent.want === "running",
  });
  await reach("prompt.typed", session.id);
  switch (result.sent) {
    case "pending":
      return { retryInMs: confirmRetryMs, why: result.why };
    case "seen":
      return record(services, session, [{ type: "prompt.sent", promptId, seenBy: result.by }]);
    case "doubtful":
      return record(services, session, [{ type: "prompt.doubtful", promptId, reason: result.why }]);
    case "not-now":
      if (begun && result.typed === true) return tryAgain(services, session, promptId, result.why);
      if (begun) await record(services, session, [requeued(promptId, result.why)]);
      return { retryInMs: sendRetryMs, why: result.why };
    case "refused":
      return refused(services, session, promptId, result.why);
    default:
      result satisfies never;
      return "done";
  }
}

function isDue({ intent, queue }: SessionState, promptId: PromptId): boolean {
  return intent.want === "running" && queue.some((one) => one.promptId === promptId && one.state === "queued");
}

/** The chat runtime records the prompt in the same commit as the line it writes, so nothing is left to settle here. */
async function deliverToChat(services: Needs, session: SessionState, prompt: PromptToSend): Promise<Outcome> {
  const result = await services.runtimes[session.kind].send(session, prompt);
  await reach("prompt.typed", session.id);
  if (result.sent === "refused") return refused(services, session, prompt.promptId, result.why);
  if (result.sent === "doubtful")
    services.log.warn("could not write a prompt", { session: session.id, why: result.why });
  return result.sent === "seen" ? "done" : { retryInMs: sendRetryMs };
}

function refused(
  services: Pick<Services, "store">,
  session: SessionState,
  promptId: PromptId,
  reason: string,
): Promise<Outcome> {
  return record(services, session, [{ type: "prompt.refused", promptId, reason }]);
}
