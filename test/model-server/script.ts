/** A prompt is a script: each of its lines that is a step is executed in turn. */
import { createHash } from "node:crypto";
import type { Conversation, Message } from "./conversation.ts";
import type { Json } from "./json.ts";
import { object } from "./json.ts";

export type Step =
  | { kind: "say"; text: string }
  | { kind: "think"; text: string }
  | { kind: "slow"; count: number; pauseMs: number }
  | { kind: "flood"; bytes: number }
  | { kind: "wait"; ms: number }
  | { kind: "gate"; name: string }
  | { kind: "history" }
  | { kind: "fail"; status: number; times: number }
  | { kind: "hang" }
  | { kind: "drop"; times: number }
  | ToolStep;

export type ToolStep =
  | { kind: "shell"; command: string }
  | { kind: "write"; path: string; text: string }
  | { kind: "call"; tool: string; input: Json | string };

const noLimit = Number.POSITIVE_INFINITY;

const stepPatterns: [RegExp, (first: string, second: string | undefined) => Step][] = [
  [/^say: ?(.*)$/, (text) => ({ kind: "say", text })],
  [/^think: ?(.*)$/, (text) => ({ kind: "think", text })],
  [/^slow: (\d+) x (\d+) ?ms$/, (n, ms) => ({ kind: "slow", count: Number(n), pauseMs: Number(ms) })],
  [/^flood: (\d+)$/, (bytes) => ({ kind: "flood", bytes: Number(bytes) })],
  [/^wait: (\d+) ?ms$/, (ms) => ({ kind: "wait", ms: Number(ms) })],
  [/^gate: ([\w-]+)$/, (name) => ({ kind: "gate", name })],
  [/^history\?$/, () => ({ kind: "history" })],
  [/^fail: (\d{3})(?: x (\d+))?$/, (status, n) => ({ kind: "fail", status: Number(status), times: times(n) })],
  [/^hang$/, () => ({ kind: "hang" })],
  [/^drop(?: x (\d+))?$/, (n: string | undefined) => ({ kind: "drop", times: times(n) })],
  [/^tool: bash (.+)$/, (command) => ({ kind: "shell", command })],
  [/^write: (\S+) (.*)$/, (path, text = "") => ({ kind: "write", path, text })],
  [/^call: (\S+) (.+)$/, (tool, input = "") => ({ kind: "call", tool, input: parseInput(input) })],
];

function times(count: string | undefined): number {
  return count === undefined ? noLimit : Number(count);
}

export function parseScript(text: string): Step[] {
  return stepLines(text).flatMap((line) => parseStep(line) ?? []);
}

function parseStep(line: string): Step | undefined {
  for (const [pattern, build] of stepPatterns) {
    const match = pattern.exec(line);
    if (match) return build(match[1]!, match[2]);
  }
  return undefined;
}

/** Lines that are steps. Text that agents add around a prompt (`<tag>…</tag>` blocks) is not read. */
function stepLines(text: string): string[] {
  return text
    .replaceAll(/<([A-Za-z][\w-]*)(?:\s[^>]*)?>[\s\S]*?<\/\1>/g, "\n")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => parseStep(line) !== undefined);
}

function parseInput(text: string): Json | string {
  try {
    return object(JSON.parse(text));
  } catch {
    return text;
  }
}

/** The user's turns, oldest first: user messages that contain at least one step, as their step lines. */
export function userTurns(conversation: Conversation): string[] {
  return conversation.messages
    .filter((message) => message.role === "user")
    .map((message) => stepLines(message.text).join("\n"))
    .filter((turn) => turn !== "");
}

export function digest(turns: string[]): string {
  return createHash("sha256").update(turns.join("\n\n")).digest("hex").slice(0, 8);
}

/** The reply to `history?`: what the model received before this turn. */
export function describeHistory(conversation: Conversation): string {
  const earlierTurns = userTurns(conversation).slice(0, -1);
  const earlierMessages = conversation.messages.slice(0, lastTurnIndex(conversation));
  const replies = earlierMessages.filter((message) => message.role === "assistant" && message.text !== "").length;
  return `history: turns=${earlierTurns.length} digest=${digest(earlierTurns)} replies=${replies}`;
}

/** The remaining steps: those after the tool calls whose results the agent has sent. */
export function remainingSteps(conversation: Conversation): Step[] {
  const index = lastTurnIndex(conversation);
  if (index < 0) return [];
  const steps = parseScript(conversation.messages[index]!.text);
  let resultsToSkip = toolResults(conversation, index).length;
  while (resultsToSkip > 0) {
    const toolStep = steps.findIndex(isToolStep);
    if (toolStep < 0) break;
    steps.splice(0, toolStep + 1);
    resultsToSkip--;
  }
  return steps;
}

export function lastToolResult(conversation: Conversation): string | undefined {
  return toolResults(conversation, lastTurnIndex(conversation)).at(-1)?.text;
}

function toolResults(conversation: Conversation, afterIndex: number): Message[] {
  return conversation.messages.slice(afterIndex + 1).filter((message) => message.role === "tool");
}

function lastTurnIndex(conversation: Conversation): number {
  return conversation.messages.findLastIndex(
    (message) => message.role === "user" && stepLines(message.text).length > 0,
  );
}

export function isToolStep(step: Step): step is ToolStep {
  return step.kind === "shell" || step.kind === "write" || step.kind === "call";
}
