/** A prompt as ACP content blocks, as far as the agent's own word says that it takes them. */
import { pathToFileURL } from "node:url";
import type { ContentBlock } from "@agentclientprotocol/sdk";
import type { ChatStore, PromptCapabilities } from "../ports/chat.ts";
import type { PromptToSend } from "../ports/runtime.ts";
import type { LaunchId } from "../contract/ids.ts";
import { record } from "./client.ts";

/** Null before the agent has answered `initialize`. What it does not say it can, it cannot. */
export function promptCapabilities(store: ChatStore, launch: LaunchId): PromptCapabilities | null {
  const answer = store.outboxRow(launch, "init")?.answer ?? null;
  if (answer === null) return null;
  const { result } = JSON.parse(answer) as { result?: unknown };
  const { image, embeddedContext } = record(record(record(result)["agentCapabilities"])["promptCapabilities"]);
  return { image: image === true, embeddedContext: embeddedContext === true };
}

export function promptBlocks(prompt: PromptToSend, can: PromptCapabilities | null): ContentBlock[] {
  return [
    { type: "text", text: prompt.text },
    ...(prompt.attachments ?? []).map((attachment): ContentBlock => {
      if (attachment.type === "image") {
        return { type: "image", mimeType: attachment.mimeType, data: Buffer.from(attachment.bytes).toString("base64") };
      }
      const { path, name, text } = attachment;
      const uri = pathToFileURL(path).href;
      // A link is understood by every agent; the words that somebody chose go along where that is possible.
      if (text === null || can?.embeddedContext !== true) return { type: "resource_link", uri, name };
      return { type: "resource", resource: { uri, text, mimeType: "text/plain" } };
    }),
  ];
}

/** Null when nothing stands against sending it. */
export function reasonNotToTake(prompt: PromptToSend, can: PromptCapabilities | null): string | null {
  const hasImage = prompt.attachments?.some(({ type }) => type === "image") ?? false;
  return hasImage && can !== null && !can.image ? "this agent takes no images" : null;
}
