/**
 * Replaces Claude Code: its arguments, its hooks and its input line, with faults controlled by files. While the file
 * FAKE_GATE is missing it has not taken over the terminal; while FAKE_DIALOG exists it shows a menu instead of its
 * input line; while FAKE_SILENT exists it works and its hooks wait. FAKE_LOG gets the accepted prompts as JSON lines;
 * FAKE_DROPS makes it drop its first prompt.
 */
import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

const { env } = process;
const strings = { type: "string" } as const;
const options = { "session-id": strings, resume: strings, settings: strings };
const { values, positionals } = parseArgs({ allowPositionals: true, options });
const id = values["session-id"] ?? values.resume ?? "";
let given = positionals[0];
let drops = env["FAKE_DROPS"] !== undefined;
let line = "";
const said: string[] = [];
const untold: string[] = [];

const isThere = (name: string): boolean => env[name] !== undefined && existsSync(env[name]);

function tell(event: string, data: Record<string, unknown>): void {
  const text = JSON.stringify({ event, at: Date.now(), data: { session_id: id, ...data } });
  appendFileSync(join(env["HOLDFAST_HOOKS"] ?? "", "hooks.jsonl"), `${text}\n`);
}

function draw(): void {
  const rule = "─".repeat(60);
  const body = isThere("FAKE_DIALOG")
    ? ["This session is old and large.", "❯ 1. Resume from summary (recommended)", "  2. Resume full session as-is"]
    : [...said.slice(-10), rule, `❯ ${line}`, rule];
  process.stdout.write(`\u001b]2;${untold.length > 0 ? "⠂" : "✳"} fake\u0007\u001b[H\u001b[2J${body.join("\r\n")}`);
}

function submit(prompt: string): void {
  if (drops) {
    drops = false;
    return;
  }
  appendFileSync(env["FAKE_LOG"] ?? "/dev/null", `${JSON.stringify(prompt)}\n`);
  said.push(`● ${prompt.length} characters`);
  untold.push(prompt);
  tellPrompts();
}

function tellPrompts(): void {
  if (isThere("FAKE_SILENT")) return;
  for (const prompt of untold.splice(0)) {
    tell("UserPromptSubmit", { prompt });
    tell("Stop", { last_assistant_message: "done" });
  }
}

function take(chunk: string): void {
  if (isThere("FAKE_DIALOG")) {
    appendFileSync(env["FAKE_LOG"] ?? "/dev/null", `${JSON.stringify(`into the menu: ${chunk}`)}\n`);
    return;
  }
  for (const character of chunk.replaceAll("\u001b[200~", "").replaceAll("\u001b[201~", "")) {
    if (character === "\u0015") line = "";
    else if (character !== "\r") line += character;
    else if (line !== "") {
      submit(line);
      line = "";
    }
  }
  draw();
}

let before = "";
function tick(): void {
  const dialog = isThere("FAKE_DIALOG");
  if (!dialog && given !== undefined) {
    submit(given);
    given = undefined;
    before = "";
  }
  tellPrompts();
  const state = `${dialog} ${untold.length}`;
  if (before !== state) draw();
  before = state;
}

function begin(): void {
  if (env["FAKE_GATE"] !== undefined && !isThere("FAKE_GATE")) {
    setTimeout(begin, 20);
    return;
  }
  process.stdin.setRawMode(true);
  process.stdin.setEncoding("utf8");
  process.stdin.on("data", take);
  process.stdout.write("\u001b[?2004h");
  tell("SessionStart", {});
  tick();
  setInterval(tick, 20);
}

for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, () => process.exit(0));
begin();
