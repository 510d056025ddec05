/**
 * From its first prompt on it writes text endlessly, at FLOODS_MB_PER_S (default 100), until it is cancelled; with
 * FLOODS_MB it stops after that many; with FLOODS_GATE it starts once that file exists.
 */
import { existsSync } from "node:fs";
import { answer, serve } from "./rpc.ts";
import type { Message } from "./rpc.ts";

const megabyte = 1024 * 1024;
const bytesPerMs = (Number(process.env["FLOODS_MB_PER_S"] ?? 100) * megabyte) / 1000;
const limit = Number(process.env["FLOODS_MB"] ?? Number.POSITIVE_INFINITY) * megabyte;
/** How often it checks for a cancel. */
const sliceMs = 10;
/** After a SIGSTOP much text is due; it is written in pieces that fit a string. */
const maxSlice = 16 * megabyte;

let prompt: Message | undefined;
let line = "";
let written = 0;
let begun = 0;

serve({
  "session/prompt": (message) => {
    const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "x".repeat(4096) } };
    const params = { sessionId: message.params?.["sessionId"], update };
    line = `${JSON.stringify({ jsonrpc: "2.0", method: "session/update", params })}\n`;
    prompt = message;
    written = 0;
    begin();
  },
  "session/cancel": () => end("cancelled"),
});

function begin(): void {
  const gate = process.env["FLOODS_GATE"];
  if (gate !== undefined && !existsSync(gate)) return void setTimeout(begin, sliceMs);
  begun = performance.now();
  flood();
}

/** Writes everything that is due, so that the rate is kept however late a timer fires. */
function flood(): void {
  if (prompt === undefined) return;
  const due = Math.min(limit - written, (performance.now() - begun + sliceMs) * bytesPerMs - written, maxSlice);
  const lines = Math.max(0, Math.ceil(due / line.length));
  process.stdout.write(line.repeat(lines));
  written += lines * line.length;
  if (written >= limit) end("end_turn");
  else setTimeout(flood, sliceMs);
}

function end(stopReason: string): void {
  if (prompt !== undefined) answer(prompt, { stopReason });
  prompt = undefined;
}
