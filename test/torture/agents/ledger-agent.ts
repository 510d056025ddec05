/**
 * A chat agent with its own ledger (TORTURE_LEDGER): its start, the work it left in its worktree, each prompt as received,
 * each chunk before it is written to stdout, each stop reason, each answer to a permission request.
 * A prompt is a list of words: `<token> chunks:N every:MS stop:REASON ask`.
 */
import { appendFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { answer, promptText, say, serve, write } from "../../acp-agents/rpc.ts";
import type { Message } from "../../acp-agents/rpc.ts";
import { doWork, note } from "./work.ts";

const options = [
  { optionId: "yes", name: "Yes", kind: "allow_once" },
  { optionId: "no", name: "No", kind: "reject_once" },
];
let asked = 0;
const turnState = { cancelled: false };
const waiting = new Map<string | number, (option: string) => void>();

note("started");
doWork();
for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"] as const) {
  process.on(signal, () => {
    note("signal", signal);
    process.exit(0);
  });
}

serve({
  "session/prompt": (message) => void turn(message),
  "session/cancel": () => {
    turnState.cancelled = true;
  },
  "(answer)": (reply) => {
    const { outcome } = (reply.result ?? {}) as { outcome?: { outcome: string; optionId?: string } };
    const option = outcome?.optionId ?? outcome?.outcome ?? "error";
    note("answer", `${String(reply.id)}=${option}`);
    if (reply.id !== undefined) waiting.get(reply.id)?.(option);
  },
});

async function turn(message: Message): Promise<void> {
  const text = promptText(message);
  note("prompt", text);
  turnState.cancelled = false;
  const word = (name: string): string | undefined => new RegExp(`\\b${name}:(\\S+)`).exec(text)?.[1];
  const token = text.split(" ")[0] ?? "";
  const wants = Number(word("chunks") ?? 1);
  for (let n = 0; n < wants && !turnState.cancelled; n++) {
    const chunk = `${token}.${n} `;
    note("chunk", chunk);
    say(message, chunk);
    await delay(Number(word("every") ?? 0));
  }
  if (/\bask\b/.test(text)) await permission(message, token);
  const stopReason = turnState.cancelled ? "cancelled" : (word("stop") ?? "end_turn");
  note("turn", stopReason);
  answer(message, { stopReason });
}

async function permission(message: Message, token: string): Promise<void> {
  const id = `${process.pid}-${asked++}`;
  const toolCall = { toolCallId: `call-${id}`, title: `touch ${token}`, kind: "execute" };
  const answered = new Promise<string>((resolve) => waiting.set(id, resolve));
  note("asked", id);
  write({
    id,
    method: "session/request_permission",
    params: { sessionId: message.params?.["sessionId"], toolCall, options },
  });
  const option = await answered;
  const chunk = `${token}:${option} `;
  note("chunk", chunk);
  say(message, chunk);
}

// Leaves its tree, as a careless build tool does: own process session, forked twice, without its environment.
const runaway = process.env["TORTURE_RUNAWAY"];
if (runaway !== undefined) {
  const { spawn } = await import("node:child_process");
  const away = `setsid env -i PATH=/usr/bin:/bin sh -c 'echo $$ >"${runaway}"; exec sleep 600' >/dev/null 2>&1 & exit 0`;
  const child = spawn("sh", ["-c", away], { stdio: "ignore", detached: true });
  child.on("close", () => appendFileSync(`${runaway}.done`, ""));
}
