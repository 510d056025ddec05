/** On a prompt it starts a child in its own process session that outlives it and ignores SIGTERM, and prints its pid. */
import { spawn } from "node:child_process";
import { answer, say, serve } from "./rpc.ts";

serve({
  "session/prompt": (message) => {
    const child = spawn("sh", ["-c", "trap '' TERM HUP; while :; do sleep 60; done"], {
      detached: true,
      stdio: "ignore",
    });
    child.unref();
    say(message, `child ${child.pid}`);
    answer(message, { stopReason: "end_turn" });
  },
});
