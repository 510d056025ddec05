/**
 * Executes its prompt line by line: `ask <JSON of id, toolCall, options>` is a permission request, `deep <n>` one
 * whose id is nested that deep, `raw <text>` a line as it is, `update <JSON>` a session update, `gate <file>` waits for that
 * file, `end` ends the turn. It prints each answer that it receives with the answer's id.
 */
import { existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { answer, promptText, say, serve, update, write, type Message } from "./rpc.ts";

const options = [
  { optionId: "yes", name: "Yes", kind: "allow_once" },
  { optionId: "always", name: "Reject", kind: "allow_always" },
  { optionId: "no", name: "No", kind: "reject_once" },
];
let last: Message | undefined;

async function play(message: Message): Promise<void> {
  for (const line of promptText(message).split("\n")) {
    const [word = ""] = line.split(" ", 1);
    const rest = line.slice(word.length + 1);
    const sessionId = message.params?.["sessionId"];
    if (word === "ask") {
      const { id, ...asked } = JSON.parse(rest) as { id: unknown };
      write({ id, method: "session/request_permission", params: { sessionId, options, ...asked } });
    } else if (word === "deep") {
      const id = "[".repeat(Number(rest)) + "]".repeat(Number(rest));
      const params = JSON.stringify({ sessionId, options, toolCall: {} });
      process.stdout.write(`{"jsonrpc":"2.0","id":${id},"method":"session/request_permission","params":${params}}\n`);
    } else if (word === "raw") process.stdout.write(`${rest}\n`);
    else if (word === "update") update(message, JSON.parse(rest) as object);
    else if (word === "gate") while (!existsSync(rest)) await delay(20);
    else if (word === "end") answer(message, { stopReason: "end_turn" });
  }
}

serve({
  "session/prompt": (message) => {
    last = message;
    void play(message);
  },
  "(answer)": (reply) => {
    const { outcome } = (reply.result ?? {}) as { outcome?: { outcome: string; optionId?: string } };
    if (last !== undefined)
      say(last, `${JSON.stringify(reply.id)}=${outcome?.optionId ?? outcome?.outcome ?? "error"}\n`);
  },
});
