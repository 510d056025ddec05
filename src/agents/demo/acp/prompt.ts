/** What a prompt is made of: its text, which holds the steps, and what is attached to it. */
import type { ContentBlock } from "@agentclientprotocol/sdk";

export function textOf(prompt: ContentBlock[]): string {
  return prompt.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

export function titleOf(prompt: string): string {
  return (prompt.trim().split("\n")[0] ?? "").slice(0, 60) || "Untitled";
}

/** Proof that what was attached arrived. */
export function describeAttachment(block: ContentBlock): string[] {
  switch (block.type) {
    case "text":
      return [];
    case "image":
    case "audio":
      return [`${block.type}: ${block.mimeType}, ${Buffer.from(block.data, "base64").length} bytes`];
    case "resource_link":
      return [`link: ${block.uri}`];
    case "resource":
      return [
        `file: ${block.resource.uri}, ${("text" in block.resource ? block.resource.text : block.resource.blob).length} characters`,
      ];
    default:
      return block satisfies never;
  }
}
