/** Answers a prompt with one line of HUGE_LINE_BYTES (default 200 MB), then with an ordinary one, then ends the turn. */
import { answer, say, serve } from "./rpc.ts";

const bytes = Number(process.env["HUGE_LINE_BYTES"] ?? 200 * 1024 * 1024);
const piece = "x".repeat(64 * 1024);

serve({
  "session/prompt": (message) => {
    const [head = "", tail = ""] = hugeMessage(message.params?.["sessionId"]).split("HERE");
    process.stdout.write(head);
    for (let left = bytes - head.length - tail.length; left > 0; left -= piece.length)
      process.stdout.write(piece.slice(-left));
    process.stdout.write(tail);
    say(message, "after the huge line");
    answer(message, { stopReason: "end_turn" });
  },
});

/** It is valid; only its size is wrong. */
function hugeMessage(sessionId: unknown): string {
  const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "HERE" } };
  return `${JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { sessionId, update } })}\n`;
}
