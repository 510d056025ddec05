/**
 * From its first prompt on it writes text without end, at FLOODS_MB_PER_S (100 unless told), until it is cancelled; with
 * FLOODS_MB it stops by itself after that many.
 */
import { answer, serve, update } from "./rpc.ts";
import type { Message } from "./rpc.ts";

const megabyte = 1024 * 1024;
const chunk = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "x".repeat(4096) } };
const chunksPerMegabyte = megabyte / 4096;
/** A rate is kept in slices this long. */
const sliceMs = 10;
const perSlice = Math.max(1, Math.round((Number(process.env["FLOODS_MB_PER_S"] ?? 100) * chunksPerMegabyte * sliceMs) / 1000));
const limit = Number(process.env["FLOODS_MB"] ?? Number.POSITIVE_INFINITY) * chunksPerMegabyte;

let prompt: Message | undefined;
let written = 0;

serve({
  "session/prompt": (message) => {
    prompt = message;
    written = 0;
    flood();
  },
  "session/cancel": () => end("cancelled"),
});

function flood(): void {
  if (prompt === undefined) return;
  for (let count = 0; count < perSlice && written < limit; count++, written++) update(prompt, chunk);
  if (written >= limit) end("end_turn");
  else setTimeout(flood, sliceMs);
}

function end(stopReason: string): void {
  if (prompt !== undefined) answer(prompt, { stopReason });
  prompt = undefined;
}
