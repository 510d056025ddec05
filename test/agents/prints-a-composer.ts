/**
 * A fake screen of an agent: a framed composer that wraps what is typed or pasted, submits on Enter, and redraws itself.
 * Options by environment: COMPOSER_HOOKS (file for a hook line per submitted prompt), COMPOSER_LOG (file that gets
 * the submitted prompts as JSON lines), COMPOSER_PLACEHOLDER (long pastes show as "[Pasted text #1 +9 lines]"),
 * COMPOSER_DEAF (pastes are dropped), COMPOSER_ASKS (a paste opens a question instead), COMPOSER_GUARD (so many ms after a
 * paste Enter is a line break).
 */
import { appendFileSync } from "node:fs";

const width = 60;
const env = process.env;
const pasteStart = "\u001b[200~";
const pasteEnd = "\u001b[201~";

let composer = "";
let shown = "";
let transcript: string[] = [];
let pending = "";
let pasting = false;
let pastes = 0;
let question = false;
let pastedAt = -Infinity;
const guardMs = Number(env["COMPOSER_GUARD"] ?? 0);

function draw(): void {
  const lines = shown.split("\n").flatMap((line) => chunks(line));
  const box = lines.slice(-10).map((line) => `│ > ${line.padEnd(width)} │`);
  const rule = "─".repeat(width + 4);
  const ask = question ? ["Allow this command? (y/n)"] : [];
  const all = [...transcript.slice(-20), `╭${rule}╮`, ...box, `╰${rule}╯`, ...ask];
  process.stdout.write(`\u001b[H\u001b[2J${all.join("\r\n")}`);
}

function chunks(line: string): string[] {
  const parts: string[] = [];
  for (let at = 0; at === 0 || at < line.length; at += width) parts.push(line.slice(at, at + width));
  return parts;
}

function submit(): void {
  if (composer === "") return;
  if (env["COMPOSER_LOG"] !== undefined) appendFileSync(env["COMPOSER_LOG"], `${JSON.stringify(composer)}\n`);
  if (env["COMPOSER_HOOKS"] !== undefined) {
    const line = { event: "UserPromptSubmit", session_id: "conversation-7", prompt: composer };
    appendFileSync(env["COMPOSER_HOOKS"], `${JSON.stringify(line)}\n`);
  }
  transcript = [...transcript, `you said ${composer.length} characters`];
  composer = "";
  shown = "";
}

function endPaste(text: string): void {
  pastes += 1;
  pastedAt = performance.now();
  if (env["COMPOSER_DEAF"] !== undefined) return;
  if (env["COMPOSER_ASKS"] !== undefined) {
    question = true;
    return;
  }
  composer += text;
  const lines = text.split("\n").length;
  const long = env["COMPOSER_PLACEHOLDER"] !== undefined && text.length > 500;
  shown += long ? `[Pasted text #${pastes} +${lines} lines]` : text;
}

function take(): void {
  for (;;) {
    if (pasting) {
      const end = pending.indexOf(pasteEnd);
      if (end < 0) return;
      endPaste(pending.slice(0, end));
      pending = pending.slice(end + pasteEnd.length);
      pasting = false;
    }
    const start = pending.indexOf(pasteStart);
    type(start < 0 ? pending : pending.slice(0, start));
    if (start < 0) {
      pending = "";
      return;
    }
    pending = pending.slice(start + pasteStart.length);
    pasting = true;
  }
}

function type(text: string): void {
  for (const character of text) {
    if (character === "\r" && performance.now() - pastedAt < guardMs) {
      composer += "\n";
      shown += "\n";
    } else if (character === "\r") submit();
    else if (character >= " ") {
      composer += character;
      shown += character;
    }
  }
}

process.stdin.setRawMode(true);
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk: string) => {
  pending += chunk;
  take();
  draw();
});
process.on("SIGTERM", () => process.exit(0));
process.stdout.write("\u001b[?2004h");
draw();
