/**
 * Asks for permission on each prompt and waits for the answer forever, ignoring a cancel meanwhile. It sends
 * no tool call before the request. It repeats each answer as text; the first one ends the turn.
 */
import { answer, say, serve, write } from "./rpc.ts";
import type { Message } from "./rpc.ts";

const options = [
  { optionId: "yes", name: "Yes", kind: "allow_once" },
  { optionId: "always", name: "Always", kind: "allow_always" },
  { optionId: "no", name: "No", kind: "reject_once" },
];
let last: Message | undefined;
let open = false;
let nextId = 0;

serve({
  "session/prompt": (message) => {
    last = message;
    open = true;
    const toolCall = {
      toolCallId: `call-${nextId}`,
      title: "touch file",
      kind: "execute",
      rawInput: { command: "touch file" },
    };
    const params = { sessionId: message.params?.["sessionId"], toolCall, options };
    write({ id: nextId++, method: "session/request_permission", params });
  },
  "(answer)": (reply) => {
    if (last === undefined) return;
    const { outcome } = (reply.result ?? {}) as { outcome?: { outcome: string; optionId?: string } };
    say(last, `answered: ${outcome?.optionId ?? outcome?.outcome ?? "error"}\n`);
    if (open) answer(last, { stopReason: outcome?.outcome === "cancelled" ? "cancelled" : "end_turn" });
    open = false;
  },
});
