/** What goes into a reading of an agent's output, and what comes out of it. */
import type { Fence } from "../contract/acp.ts";
import type { FactEvent } from "../contract/event.ts";
import type { LaunchId } from "../contract/ids.ts";
import type { RuleName } from "../contract/permission-rules.ts";
import type { PermissionOption, SessionState } from "./session.ts";
import type { ToolCallFields } from "./tool-call.ts";

export type OutputItem =
  | { item: "message"; message: Record<string, unknown>; bytes?: number }
  | { item: "damaged"; what: "oversized" | "unparsable" | "torn" | "shrunk"; bytes: number };

export interface OutputContext {
  state: SessionState;
  launch: LaunchId;
  fence: Fence;
  /** Where the next line for the agent will stand. */
  inEnd: number;
  /** Where the agent's replay ends after a load: with its answer, or later with its list of commands. */
  replayEnds: "answer" | "commands";
  /** Asked about each question when it is recorded; null leaves it to the user. Without one every question waits. */
  judge?: (question: JudgedQuestion) => RuleAnswer | null;
}

/** A question with what this batch says about its tool call, oldest first; earlier batches are in the events. */
export interface JudgedQuestion {
  toolCallId: string | null;
  updates: ToolCallFields[];
  options: PermissionOption[];
}

export interface RuleAnswer {
  optionId: string;
  rule: RuleName;
}

export interface MappedOutput {
  events: FactEvent[];
  /** Lines for the agent. */
  lines: { key: string; text: string }[];
  answers: { key: string; answer: string }[];
  fence: Fence;
}
