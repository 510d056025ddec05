/** Responds to each prompt twice, with another stop reason the second time. */
import { answer, say, serve } from "./rpc.ts";

serve({
  "session/prompt": (message) => {
    say(message, "once");
    answer(message, { stopReason: "end_turn" });
    answer(message, { stopReason: "refusal" });
  },
});
