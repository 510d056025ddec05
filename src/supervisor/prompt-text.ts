/** A prompt as it is to be sent: the text that admitted it, or the last edit while it waited, and what it carries. */
import { join } from "node:path";
import type { PromptToSend, SentAttachment } from "../ports/runtime.ts";
import type { Attachment } from "../contract/event.ts";
import type { PromptId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import type { Services } from "./services.ts";

export interface StoredPrompt {
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

/** For a terminal: files are named below the text. */
export function typedPrompt({ promptId, text, attachments }: StoredPrompt): { promptId: PromptId; text: string } {
  const paths = attachments.filter(({ type }) => type === "file").map(({ name }) => name);
  return { promptId, text: paths.length === 0 ? text : `${text}\n\n${paths.join("\n")}` };
}

export function hasImage({ attachments }: StoredPrompt): boolean {
  return attachments.some(({ type }) => type === "image");
}

/** For a chat: with the bytes. */
export function wholePrompt(
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
