/** On a prompt it starts a process that hides from its launch (test/agents/runs-away.sh), with the path in the prompt. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { answer, say, serve } from "./rpc.ts";

serve({
  "session/prompt": (message) => {
    spawnSync(join(import.meta.dirname, "../agents/runs-away.sh"), [process.env["RUNAWAY_FILE"] ?? ""]);
    say(message, "ran away");
    answer(message, { stopReason: "end_turn" });
  },
});
