/**
 * A fake screen of an agent: a framed composer that wraps what is typed or pasted, submits on Enter, and redraws itself.
 * Options by environment: COMPOSER_HOOKS (file for a hook line per submitted prompt), COMPOSER_LOG (file that gets
 * the submitted prompts as JSON lines), COMPOSER_PLACEHOLDER (long pastes show as "[Pasted text #1 +9 lines]"),
 * COMPOSER_DEAF (pastes are dropped), COMPOSER_ASKS (a paste opens a question instead), COMPOSER_GUARD (for so many ms after
 * a paste, Enter is a line break), COMPOSER_GATE (until this file exists it has not taken over the terminal: the kernel
 * echoes, and typed text is then dropped), COMPOSER_ENTERS (so many Enters become line breaks),
 * COMPOSER_DIALOG (while this file exists a list replaces the composer, and keys choose from it),
 * COMPOSER_KEEPS (until this file exists prompts are queued, as by a busy agent), COMPOSER_OPENS (until
 * this file exists a sent prompt stays in the composer, and each further Enter sends it again), COMPOSER_CURSOR
 * (the cursor is after the typed text; otherwise it is parked below).
 */
import { appendFileSync, existsSync } from "node:fs";

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
let eatenEnters = Number(env["COMPOSER_ENTERS"] ?? 0);
const kept: string[] = [];
let opening = 0;
let openTicks = 10;
const isThere = (name: string): boolean => env[name] !== undefined && existsSync(env[name]);
const hasDialog = (): boolean => isThere("COMPOSER_DIALOG");

function draw(): void {
  const lines = shown.split("\n").flatMap((line) => chunks(line));
  const box = lines.slice(-10).map((line, index) => `│ ${index === 0 ? ">" : " "} ${line.padEnd(width)} │`);
  const rule = "─".repeat(width + 4);
  const ask = question ? ["Allow this command? (y/n)"] : [];
  if (hasDialog()) {
    process.stdout.write("\u001b[H\u001b[2JChoose how to go on:\r\n❯ 1. This way\r\n  2. That way");
    return;
  }
  if (kept.length > 0) ask.push("Queued (press up to edit):");
  const all = [...transcript.slice(-20), `╭${rule}╮`, ...box, `╰${rule}╯`, ...ask];
  // Up from the last line to the last one of the box.
  const end = `\u001b[${ask.length + 1}A\r\u001b[${4 + (lines.at(-1)?.length ?? 0)}C`;
  const cursor = env["COMPOSER_CURSOR"] === undefined ? "" : end;
  process.stdout.write(`\u001b[H\u001b[2J${all.join("\r\n")}${cursor}`);
}

function chunks(line: string): string[] {
  const parts: string[] = [];
  for (let at = 0; at === 0 || at < line.length; at += width) parts.push(line.slice(at, at + width));
  return parts;
}

function submit(): void {
  if (composer === "") return;
  if (env["COMPOSER_OPENS"] !== undefined && openTicks >= 0) {
    opening += 1;
    return;
  }
  if (env["COMPOSER_KEEPS"] !== undefined && !isThere("COMPOSER_KEEPS")) kept.push(composer);
  else accept(composer);
  composer = "";
  shown = "";
}

function accept(prompt: string): void {
  if (env["COMPOSER_LOG"] !== undefined) appendFileSync(env["COMPOSER_LOG"], `${JSON.stringify(prompt)}\n`);
  // An agent's command is not a prompt.
  if (env["COMPOSER_HOOKS"] !== undefined && !prompt.startsWith("/")) {
    const line = { event: "UserPromptSubmit", session_id: "conversation-7", prompt };
    appendFileSync(env["COMPOSER_HOOKS"], `${JSON.stringify(line)}\n`);
  }
  transcript = [...transcript, `you said ${prompt.length} characters`];
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
    const isEaten = character === "\r" && composer !== "" && eatenEnters-- > 0;
    if (isEaten || (character === "\r" && performance.now() - pastedAt < guardMs)) {
      composer += "\n";
      shown += "\n";
    } else if (character === "\r") submit();
    else if (character === "\u0015") {
      composer = "";
      shown = "";
    } else if (character >= " ") {
      composer += character;
      shown += character;
    }
  }
}

function begin(): void {
  process.stdin.setRawMode(true);
  process.stdin.setEncoding("utf8");
  // As in real agents: earlier input is gone.
  process.stdin.read();
  process.stdin.on("data", (chunk: string) => {
    if (hasDialog()) {
      if (env["COMPOSER_LOG"] !== undefined)
        appendFileSync(env["COMPOSER_LOG"], `${JSON.stringify(`dialog: ${chunk}`)}\n`);
      return;
    }
    pending += chunk;
    take();
    draw();
  });
  process.stdout.write("\u001b[?2004h");
  draw();
}

let drawn = "";
function tick(): void {
  const state = `${hasDialog()} ${isThere("COMPOSER_KEEPS")}`;
  if (isThere("COMPOSER_KEEPS")) for (const prompt of kept.splice(0)) accept(prompt);
  // A few ticks later, so that an earlier Enter is read first.
  if (opening > 0 && isThere("COMPOSER_OPENS") && (openTicks -= 1) < 0) {
    for (; opening > 1; opening -= 1) accept(composer);
    opening = 0;
    submit();
    draw();
  }
  if (state !== drawn) draw();
  drawn = state;
}

function untilOpen(): void {
  if (env["COMPOSER_GATE"] !== undefined && !isThere("COMPOSER_GATE")) {
    setTimeout(untilOpen, 20);
    return;
  }
  begin();
  if (["COMPOSER_DIALOG", "COMPOSER_KEEPS", "COMPOSER_OPENS"].some((name) => env[name] !== undefined))
    setInterval(tick, 20);
}

process.on("SIGTERM", () => process.exit(0));
untilOpen();
