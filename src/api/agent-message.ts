/** A message from one agent to another: marked and quoted, so that it is not taken for the person's own words. */
import { quoteBlock, inert } from "../model/text.ts";

export function agentMessage(from: string, text: string): string {
  return `Message from session ${from} (an agent, not the person):\n\n${quoteBlock(inert(text), "message")}`;
}
