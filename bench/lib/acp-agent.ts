/**
 * An agent that speaks just enough ACP to be measured. The prompt is a command: `stamped <n> <per second>` writes
 * chunks that contain the time of writing; `run <argv as JSON>` runs a program that writes to our stdout, and the turn
 * ends when it exits; `tools <n>` writes lines of 300 bytes, each of which becomes an event.
 */
import { spawn } from "node:child_process";
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";

const lineBytes = 300;
const flushBytes = 60_000;
const sessionId = "bench";

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line) as {
    id?: string;
    method: string;
    params: { prompt?: { text: string }[] };
  };
  if (method === "initialize") answer(id, { protocolVersion: 1, agentCapabilities: {}, authMethods: [] });
  else if (method === "session/new") answer(id, { sessionId });
  else if (method === "session/prompt") {
    await work(params.prompt?.[0]?.text ?? "");
    answer(id, { stopReason: "end_turn" });
  }
}

async function work(text: string): Promise<void> {
  const [what = "", ...words] = text.split(" ");
  if (what === "stamped") await writeStamped(Number(words[0]), Number(words[1]));
  else if (what === "run") await run(JSON.parse(words.join(" ")) as string[]);
  else if (what === "tools") writeTools(Number(words[0]));
}

async function writeStamped(count: number, perSecond: number): Promise<void> {
  const startedAt = performance.now();
  for (let written = 0; written < count;) {
    const due = Math.min(count, Math.floor(((performance.now() - startedAt) / 1000) * perSecond));
    for (; written < due; written++) {
      const text = `<${process.hrtime.bigint()}>`.padEnd(80, ".");
      write(update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } }));
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

function run([command = "", ...args]: string[]): Promise<unknown> {
  const child = spawn(command, args, { stdio: ["ignore", "inherit", "inherit"] });
  return new Promise((resolve, reject) => child.on("error", reject).on("exit", resolve));
}

function writeTools(count: number): void {
  const shape = (number: number, title: string): string =>
    update({ sessionUpdate: "tool_call_update", toolCallId: `call-${number}`, status: "completed", title });
  const title = "x".repeat(lineBytes - shape(1_000_000, "").length);
  let text = "";
  for (let number = 1; number <= count; number++) {
    text += shape(1_000_000 + number, title);
    if (text.length < flushBytes) continue;
    write(text);
    text = "";
  }
  write(text);
}

function update(body: object): string {
  return `${JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { sessionId, update: body } })}\n`;
}

function answer(id: unknown, result: object): void {
  write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
}

function write(text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length;) at += writeSync(1, bytes, at);
}
