import { setTimeout as sleep } from "node:timers/promises";
import type { Conversation, ReplyWriter } from "./conversation.ts";
import { aborted, Gates } from "./gates.ts";
import { newId } from "./ids.ts";
import { describeHistory, digest, isToolStep, lastToolResult, userTurns } from "./script.ts";
import type { Step, ToolStep } from "./script.ts";
import { toToolCall } from "./tools.ts";

/** How a reply ended: completed, cut off, or refused. */
export type Ending = { kind: "done" } | { kind: "drop" } | { kind: "fail"; status: number };

/** State that replies share while the server lives. */
export class ReplyState {
  readonly gates = new Gates();
  readonly #failures = new Map<string, number>();

  /** Whether a turn that should fail `times` times must fail now; counts this one if so. */
  failsNow(conversation: Conversation, times: number): boolean {
    const turn = digest(userTurns(conversation));
    const failed = this.#failures.get(turn) ?? 0;
    if (failed >= times) return false;
    this.#failures.set(turn, failed + 1);
    return true;
  }
}

interface Reply {
  conversation: Conversation;
  writer: ReplyWriter;
  state: ReplyState;
  signal: AbortSignal;
}

/** Executes the steps, up to the first tool call, which ends a reply. Rejects when the signal aborts. */
export async function reply(steps: Step[], context: Reply): Promise<Ending> {
  for (const step of steps) {
    if (isToolStep(step)) {
      callTool(step, context);
      return { kind: "done" };
    }
    const ending = await carryOut(step, context);
    if (ending !== null) return ending;
  }
  if (!steps.some(speaks)) context.writer.text(closingWords(context.conversation));
  return { kind: "done" };
}

function callTool(step: ToolStep, { conversation, writer }: Reply): void {
  const call = toToolCall(step, conversation.tools, newId("call_"));
  if (call === undefined) throw new Error(`the agent offers no tool for "${step.kind}"`);
  writer.toolCall(call);
}

/** Null if the reply continues. */
async function carryOut(step: Exclude<Step, ToolStep>, context: Reply): Promise<Ending | null> {
  const { conversation, writer, state, signal } = context;
  switch (step.kind) {
    case "say":
      for (const word of words(step.text)) writer.text(word);
      writer.text("\n");
      return null;
    case "think":
      for (const word of words(step.text)) writer.thinking(word);
      return null;
    case "slow":
      for (let tick = 1; tick <= step.count; tick++) {
        writer.text(`tick ${tick}/${step.count}\n`);
        await sleep(step.pauseMs, undefined, { signal });
      }
      return null;
    case "flood":
      for (let left = step.bytes; left > 0; left -= 100) writer.text("x".repeat(Math.min(99, left - 1)) + "\n");
      return null;
    case "history":
      writer.text(describeHistory(conversation) + "\n");
      return null;
    case "wait":
      await sleep(step.ms, undefined, { signal });
      return null;
    case "gate":
      await state.gates.pass(step.name, signal);
      return null;
    case "hang":
      return aborted(signal);
    case "fail":
      return state.failsNow(conversation, step.times) ? { kind: "fail", status: step.status } : null;
    case "drop":
      return state.failsNow(conversation, step.times) ? { kind: "drop" } : null;
    default:
      return step satisfies never;
  }
}

function speaks(step: Step): boolean {
  return ["say", "slow", "flood", "history"].includes(step.kind);
}

/** The text if the script has none, so that no reply is empty. */
function closingWords(conversation: Conversation): string {
  const result = lastToolResult(conversation);
  return result === undefined ? "ok" : `tool said: ${result.slice(0, 2000)}`;
}

function words(text: string): string[] {
  return text.match(/\S+\s*/g) ?? [];
}
