/** Dies by SIGKILL in the middle of its first turn, after some text; DIES_WITH sets an exit code instead. */
import { say, serve } from "./rpc.ts";

serve({
  "session/prompt": (message) => {
    say(message, "last words");
    const code = process.env["DIES_WITH"];
    if (code === undefined) process.kill(process.pid, "SIGKILL");
    else process.exit(Number(code));
  },
});
