/** Reads an agent's messages: any field may be missing or have another type. */
import type { ChatEvent, FactEvent } from "../contract/event.ts";
import type { SessionState } from "./session.ts";
import type { ReplayFilter } from "../contract/acp.ts";
import type { LaunchId, PermissionOption } from "../contract/ids.ts";
import type { RuleName } from "../contract/permission-rules.ts";
import type { ToolCallFields } from "./tool-call.ts";

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isText(value: unknown): value is string {
  return typeof value === "string";
}

export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function errorText(error: Record<string, unknown>): string {
  const message = isText(error["message"]) ? error["message"] : "an error without a message";
  const { data } = error;
  // Agents put the cause into `data` and "Internal error" into the message.
  const detail = isRecord(data) ? (data["details"] ?? data["message"]) : data;
  return isText(detail) && detail !== "" && detail !== message ? `${message}: ${detail}` : message;
}

/** The text of a content block; other content is named in brackets. */
export function wordsOf(content: unknown): string {
  if (!isRecord(content)) return "";
  const { type, text, uri, name, mimeType } = content;
  if (type === "text") return isText(text) ? text : "";
  if (type === "resource_link") return isText(uri) ? `[${isText(name) ? name : uri}](${uri})` : "";
  if (type === "resource") {
    const { resource } = content;
    if (!isRecord(resource)) return "";
    if (isText(resource["text"])) return resource["text"];
    return isText(resource["uri"]) ? `[${resource["uri"]}]` : "";
  }
  return isText(type) ? `[${isText(mimeType) ? mimeType : type}]` : "";
}

export function optionOf(option: unknown): PermissionOption[] {
  if (!isRecord(option) || !isText(option["optionId"])) return [];
  const { optionId, name, kind } = option;
  return [{ optionId, name: isText(name) ? name : optionId, kind: isText(kind) ? kind : "" }];
}

type ToolFields = Omit<Extract<ChatEvent, { type: "tool.updated" }>, "type" | "toolCallId">;

/** Only the fields of this update: a missing field keeps its earlier value. */
export function toolFields(update: Record<string, unknown>): ToolFields {
  const fields: ToolFields = {};
  if (isText(update["title"])) fields.title = update["title"];
  if (isText(update["kind"])) fields.kind = update["kind"];
  if (isText(update["status"])) fields.status = update["status"];
  if (Array.isArray(update["content"])) fields.content = update["content"];
  if (Array.isArray(update["locations"])) fields.locations = update["locations"];
  const { rawInput = null, rawOutput = null } = update;
  if (rawInput !== null) fields.rawInput = rawInput;
  if (rawOutput !== null) fields.rawOutput = rawOutput;
  return fields;
}

export type OutputItem =
  | { item: "message"; message: Record<string, unknown>; bytes?: number }
  | { item: "damaged"; what: "oversized" | "unparsable" | "torn" | "shrunk"; bytes: number };

export interface OutputContext {
  state: SessionState;
  launch: LaunchId;
  replayFilter: ReplayFilter;
  /** The offset of the next line for the agent. */
  inEnd: number;
  /** What ends the agent's replay after a load: its response, or its later list of commands. */
  replayEnds: "answer" | "commands";
  /** Called for each permission request when it is recorded; null leaves it to the user, as does a missing judge. */
  judge?: (question: JudgedRequest) => RuleAnswer | null;
}

/** A permission request with this batch's updates of its tool call, oldest first; earlier ones are in the events. */
export interface JudgedRequest {
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
  replayFilter: ReplayFilter;
}
