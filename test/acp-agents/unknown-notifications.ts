/**
 * In a turn it sends messages that no client knows: a notification, an update of an unknown kind, an unrequested response,
 * and a request. Then it prints the error code of the response to its request, and ends the turn.
 */
import { answer, say, serve, update, write } from "./rpc.ts";
import type { Message } from "./rpc.ts";

let prompt: Message | undefined;

serve({
  "session/prompt": (message) => {
    prompt = message;
    write({ method: "_weather/changed", params: { sky: "green" } });
    update(message, { sessionUpdate: "mood_update", mood: "fine" });
    write({ id: "nobody-asked", result: { stopReason: "end_turn" } });
    write({ id: "q-1", method: "_weather/ask", params: {} });
  },
  "(answer)": (reply) => {
    if (prompt === undefined) return;
    const { error } = reply as { error?: { code: number } };
    say(prompt, `answered ${error?.code ?? "with a result"}`);
    answer(prompt, { stopReason: "end_turn" });
    prompt = undefined;
  },
});
