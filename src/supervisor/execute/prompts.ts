/** Prompts on their way to an agent: their text, and the outcome of an unconfirmed one, which is checked and never resent on a guess. */
import type { SentPrompt, PromptToSend, SentAttachment } from "../../ports/runtime.ts";
import type { FactEvent, IntentBody, Attachment } from "../../contract/event.ts";
import type { PromptId } from "../../contract/ids.ts";
import type { SessionState } from "../../model/session.ts";
import type { Services } from "../services.ts";
import { eventPage, lastEvent, record, requeued, type Outcome } from "../record.ts";
import { join } from "node:path";

/** Hooks wake the loop immediately; this is for agents that confirm only in their transcript, and for a second Enter. */
export const confirmRetryMs = 1_000;
/** How often a prompt that the agent did not accept is typed again. */
const maxTries = 3;
const interrupted = "something stopped while it was being sent; it may or may not have arrived";

export async function settlePrompt(
  services: Pick<Services, "store" | "runtimes">,
  session: SessionState,
  promptId: PromptId,
): Promise<Outcome> {
  const sent = sentPrompt(services, session, promptId);
  if (sent === null) return record(services, session, [doubtful(promptId, interrupted)]);
  const isUp = session.run.run === "up" && session.run.launch === sent.launch;
  if (!isUp) return record(services, session, await lastWord(services, session));
  const found = await services.runtimes.terminal.confirm(session, sent, { finish: true });
  switch (found.is) {
    case "confirmed":
      return record(services, session, [{ type: "prompt.sent", promptId, seenBy: found.by }]);
    case "doubtful":
      return record(services, session, [doubtful(promptId, found.why)]);
    case "not-taken":
      return tryAgain(services, session, promptId, found.why);
    case "waiting":
      return { retryInMs: confirmRetryMs, why: found.why };
    case "gone":
      // Its end is recorded next, together with this.
      return { retryInMs: confirmRetryMs, why: "the agent has exited" };
    default:
      found satisfies never;
      return "done";
  }
}

export async function tryAgain(
  services: Pick<Services, "store">,
  session: SessionState,
  promptId: PromptId,
  why: string,
): Promise<Outcome> {
  const after = services.store.prompt(session.id, promptId)?.seq ?? 0;
  const events = services.store.someEvents(session.id, { after, types: ["prompt.requeued"], ...eventPage });
  if (timesTyped(events, promptId) + 1 >= maxTries) return record(services, session, [doubtful(promptId, why)]);
  await record(services, session, [{ type: "prompt.requeued", promptId, reason: why, typed: true }]);
  return { retryInMs: confirmRetryMs, why };
}

/** Attempts that ended before the first key do not count: the agent never saw them. */
export function timesTyped(events: readonly (FactEvent | IntentBody)[], promptId: PromptId): number {
  return events.filter(
    (event) => event.type === "prompt.requeued" && event.promptId === promptId && event.typed === true,
  ).length;
}

/** The outcome of the prompt that an agent received before it exited. One it cannot have read is queued for the next start. */
export async function lastWord(
  services: Pick<Services, "store" | "runtimes">,
  session: SessionState,
): Promise<FactEvent[]> {
  if (session.kind !== "terminal") return [];
  const open = session.queue.find((prompt) => prompt.state === "sending");
  if (open === undefined) return [];
  const { promptId } = open;
  const sent = sentPrompt(services, session, promptId);
  if (sent === null) return [doubtful(promptId, interrupted)];
  const found = await services.runtimes.terminal.confirm(session, sent, { finish: false });
  if (found.is === "confirmed") return [{ type: "prompt.sent", promptId, seenBy: found.by }];
  if (found.is === "doubtful") return [doubtful(promptId, found.why)];
  if (found.is === "not-taken") return [requeued(promptId, found.why)];
  return sent.asArgument && !hasBegun(services, session)
    ? [requeued(promptId, "the agent ended before it could read it")]
    : [doubtful(promptId, "the agent ended before it confirmed it; it may or may not have read it")];
}

/** Whether the latest launch was ever observed working or idle; a dialog alone reads no prompt. */
function hasBegun({ store }: Pick<Services, "store">, { id }: SessionState): boolean {
  const started = lastEvent(store, id, { after: 0, types: ["launch.started"] })?.seq ?? 0;
  const seen = store.someEvents(id, { after: started, types: ["activity.changed"], ...eventPage });
  return seen.some((event) => event.type === "activity.changed" && event.activity !== "needs_input");
}

function sentPrompt(services: Pick<Services, "store">, session: SessionState, promptId: PromptId): SentPrompt | null {
  if (session.kind !== "terminal") return null;
  const after = services.store.prompt(session.id, promptId)?.seq ?? 0;
  const event = lastEvent(services.store, session.id, { after, types: ["prompt.sending"] });
  if (event?.type !== "prompt.sending" || event.promptId !== promptId || event.mark === undefined) return null;
  const { launch, mark, argument = false, at } = event;
  return { ...typedPrompt(promptToSend(services, session, promptId)), launch, mark, sentAt: at, asArgument: argument };
}

function doubtful(promptId: PromptId, reason: string): FactEvent {
  return { type: "prompt.doubtful", promptId, reason };
}

interface StoredPrompt {
  promptId: PromptId;
  text: string;
  attachments: Attachment[];
}

export function promptToSend(
  services: Pick<Services, "store">,
  session: SessionState,
  promptId: PromptId,
): StoredPrompt {
  const edited = session.queue.find((prompt) => prompt.promptId === promptId)?.editedSeq;
  const event = edited === undefined ? undefined : services.store.events(session.id, edited - 1, 1)[0];
  const prompt = services.store.prompt(session.id, promptId);
  const text = event?.type === "prompt.edited" ? event.text : prompt?.text;
  if (text === undefined) throw new Error(`prompt ${promptId} of ${session.id} has no text`);
  return { promptId, text, attachments: prompt?.attachments ?? [] };
}

/** For a terminal: file paths follow the text. */
export function typedPrompt({ promptId, text, attachments }: StoredPrompt): { promptId: PromptId; text: string } {
  const paths = attachments.filter(({ type }) => type === "file").map(({ name }) => name);
  return { promptId, text: paths.length === 0 ? text : `${text}\n\n${paths.join("\n")}` };
}

export function hasImage({ attachments }: StoredPrompt): boolean {
  return attachments.some(({ type }) => type === "image");
}

/** For a chat: includes the bytes. */
export function fullPrompt(
  services: Pick<Services, "store">,
  session: SessionState,
  prompt: StoredPrompt,
): PromptToSend {
  const { promptId, text } = prompt;
  if (prompt.attachments.length === 0) return { promptId, text };
  const attachments = prompt.attachments.map(({ type, name, mimeType, size }, n): SentAttachment => {
    const bytes = services.store.attachment(session.id, promptId, n) ?? new Uint8Array();
    if (type === "image") return { type, mimeType: mimeType ?? "", bytes };
    const path = join(session.workspacePath, name);
    return { type, name, path, text: size === 0 ? null : Buffer.from(bytes).toString("utf8") };
  });
  return { promptId, text, attachments };
}
