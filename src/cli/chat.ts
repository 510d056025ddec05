/** A chat session in a terminal: its transcript as it comes, and each line typed is a prompt. */
import { createInterface } from "node:readline";
import { HoldfastError } from "../protocol/error.ts";
import type { EventJson, SessionJson } from "../protocol/wire.ts";
import type { Context } from "./context.ts";
import { follow } from "./follow.ts";
import { readOn } from "./read-events.ts";
import { receiptLine } from "./render/receipt.ts";
import { transcriptLines } from "./render/transcript.ts";

export async function chat(context: Context, session: SessionJson): Promise<number> {
  const { id } = session;
  let last = 0;
  const print = (event: EventJson): void => {
    last = event.seq;
    for (const line of transcriptLines(event, context.paint)) context.out(line);
  };
  await readOn(context, id, last, print);
  const lines = createInterface({ input: process.stdin, terminal: false });
  lines.on("line", (text) => {
    if (text.trim() !== "") void send(context, id, text);
  });
  const left = new Promise<"left">((resolve) => lines.once("close", () => resolve("left")));
  await Promise.race([follow(context, id, () => readOn(context, id, last, print)), left]);
  return 0;
}

async function send(context: Context, id: string, text: string): Promise<void> {
  const promptId = process.getBuiltinModule("node:crypto").randomUUID();
  try {
    const receipt = await context.call("prompt", { params: { id }, body: { promptId, text } });
    if (receipt.disposition !== "delivered") context.err(receiptLine(receipt));
  } catch (error) {
    context.err(error instanceof HoldfastError ? error.message : String(error));
  }
}
