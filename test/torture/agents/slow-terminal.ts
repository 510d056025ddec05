/**
 * A terminal agent with a slow start, run as `claude`: for a while its terminal is cooked, echoes and is not read; then it
 * flushes what was typed too early, switches to raw mode, turns bracketed paste on and draws an input line. It confirms each
 * submitted prompt with Claude Code's own hook and records it in its ledger; it drops one that begins with `swallow`.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { doWork, note } from "./work.ts";

const args = process.argv.slice(2);
const valueOf = (name: string): string | null => (args.includes(name) ? (args[args.indexOf(name) + 1] ?? null) : null);
const conversation = valueOf("--session-id") ?? valueOf("--resume") ?? "";
/** The driver writes how long the next start takes. */
const slowMs = Number(readFileSync(join(process.env["TORTURE_SLOW"] ?? ".", "slow"), "utf8"));
const width = 70;
const pasteStart = "\u001b[200~";
const pasteEnd = "\u001b[201~";

let typed = "";
let pending = "";
let pasting = false;
let ready = false;
const shown: string[] = [];

note("started");
doWork();
for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, () => process.exit(0));
process.stdout.write("starting up ...\r\n");
await delay(slowMs);

process.stdin.setRawMode(true);
process.stdin.setEncoding("utf8");
process.stdin.on("data", (text: string) => {
  // Text typed before the input line existed is gone, as with every agent that flushes its terminal.
  if (!ready) return;
  pending += text;
  take();
  draw();
});
await delay(60);
ready = true;
process.stdout.write("\u001b[?2004h");
hook("SessionStart", { source: args.includes("--resume") ? "resume" : "startup" });
draw();
const last = args.at(-1);
if (last !== undefined && !last.startsWith("-") && !last.endsWith("claude-settings.json") && last !== conversation)
  submit(last);

function take(): void {
  for (;;) {
    const mark = pasting ? pasteEnd : pasteStart;
    const at = pending.indexOf(mark);
    const text = at < 0 ? (pasting ? "" : pending) : pending.slice(0, at);
    if (pasting) typed += at < 0 ? "" : text;
    else type(text);
    if (at < 0) {
      if (!pasting) pending = "";
      return;
    }
    pending = pending.slice(at + mark.length);
    pasting = !pasting;
  }
}

function type(text: string): void {
  for (const letter of text) {
    if (letter === "\r") {
      if (typed !== "") submit(typed);
      typed = "";
    } else if (letter >= " ") typed += letter;
  }
}

function submit(text: string): void {
  // An agent may take a text out of its input line and do nothing with it.
  if (text.startsWith("swallow ")) return;
  note("prompt", text);
  hook("UserPromptSubmit", { prompt: text });
  shown.push(`> ${text}`);
  setTimeout(() => {
    hook("Stop", { last_assistant_message: "done" });
    draw();
  }, 30);
}

function draw(): void {
  const rule = "\u2500".repeat(width);
  const lines = [...shown.slice(-12), rule, `\u276f ${typed}`, rule, "  ? for shortcuts"];
  process.stdout.write(`\u001b[H\u001b[2J${lines.join("\r\n")}`);
}

function hook(event: string, data: object): void {
  const directory = process.env["HOLDFAST_HOOKS"];
  if (directory === undefined) return;
  const line = { event, at: Date.now(), data: { session_id: conversation, ...data } };
  try {
    appendFileSync(join(directory, "hooks.jsonl"), `${JSON.stringify(line)}\n`);
  } catch {
    // The launch directory is gone: this agent is about to be stopped.
  }
}
