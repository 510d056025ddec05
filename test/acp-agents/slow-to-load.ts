/**
 * `session/load` replays a turn, then responds only once the file named by LOAD_GATE exists; without one, never. One
 * more piece of the replay comes after the response.
 */
import { existsSync } from "node:fs";
import { answer, serve, update } from "./rpc.ts";
import type { Message } from "./rpc.ts";

const gate = process.env["LOAD_GATE"];

serve({
  "session/load": (message) => {
    replay(message, "user_message_chunk", "an old prompt");
    replay(message, "agent_message_chunk", "an old answer");
    const looking = setInterval(() => {
      if (gate === undefined || !existsSync(gate)) return;
      clearInterval(looking);
      answer(message, {});
      replay(message, "agent_message_chunk", "an old answer, too late");
      update(message, { sessionUpdate: "available_commands_update", availableCommands: [] });
    }, 15);
  },
});

function replay(message: Message, sessionUpdate: string, text: string): void {
  update(message, { sessionUpdate, content: { type: "text", text } });
}
