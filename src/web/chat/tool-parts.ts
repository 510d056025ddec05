/** The parts of a tool call. Agents differ and may send anything: every shape is checked first. */
import type { ToolItem } from "../../contract/transcript.ts";
import { plainOutput } from "./inert.ts";

export interface DiffPart {
  path: string;
  before: string;
  after: string;
}

export interface ToolParts {
  command: string | null;
  output: string;
  diffs: DiffPart[];
  /** Paths, with a line number if given. */
  paths: string[];
  exitCode: number | null;
  signal: string | null;
  /** The raw input if it contains more than the command. */
  input: string | null;
}

type Shape = Record<string, unknown>;

export function partsOf({ content, locations, rawInput, rawOutput }: ToolItem): ToolParts {
  const input = shape(rawInput);
  const result = shape(rawOutput);
  const command = commandOf(input);
  const blocks = content.flatMap(textOf);
  const output = blocks.length > 0 ? blocks.join("\n") : outputOf(rawOutput, result);
  const otherInput = rawInput !== null && !(command !== null && Object.keys(input).length === 1);
  return {
    command,
    output: plainOutput(output),
    diffs: content.flatMap(diffOf),
    paths: [...new Set(locations.flatMap(pathOf))],
    exitCode: numberIn(result, "exitCode") ?? numberIn(result, "exit_code"),
    signal: textIn(result, "signal"),
    input: otherInput ? pretty(rawInput) : null,
  };
}

function commandOf(input: Shape): string | null {
  const command = input["command"] ?? input["cmd"];
  if (typeof command === "string") return command;
  if (Array.isArray(command) && command.every((word) => typeof word === "string")) return command.join(" ");
  return null;
}

function textOf(block: unknown): string[] {
  const { type, content } = shape(block);
  if (type !== "content") return [];
  const inner = shape(content);
  if (typeof inner["text"] === "string") return [unfenced(inner["text"])];
  if (inner["type"] === "image") return ["[image]"];
  const name = textIn(inner, "uri") ?? textIn(shape(inner["resource"]), "uri");
  return name === null ? [] : [`[${name}]`];
}

/** Some agents wrap output in a code fence; in a card it is one already. */
function unfenced(text: string): string {
  const match = /^```[\w-]*\n([^]*?)\n?```\s*$/.exec(text);
  return match?.[1] ?? text;
}

function outputOf(rawOutput: unknown, result: Shape): string {
  if (typeof rawOutput === "string") return rawOutput;
  for (const name of ["output", "formatted_output", "stdout", "error", "message"]) {
    const text = textIn(result, name);
    if (text !== null && text !== "") return text;
  }
  return "";
}

function diffOf(block: unknown): DiffPart[] {
  const diff = shape(block);
  const path = textIn(diff, "path");
  if (diff["type"] !== "diff" || path === null) return [];
  return [{ path, before: textIn(diff, "oldText") ?? "", after: textIn(diff, "newText") ?? "" }];
}

function pathOf(location: unknown): string[] {
  const path = textIn(shape(location), "path");
  if (path === null) return [];
  const line = numberIn(shape(location), "line");
  return [line === null ? path : `${path}:${line}`];
}

export function pretty(value: unknown): string {
  return plainOutput(typeof value === "string" ? value : JSON.stringify(value, null, 2));
}

export function shape(value: unknown): Shape {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Shape) : {};
}

export function textIn(value: Shape, name: string): string | null {
  return typeof value[name] === "string" ? value[name] : null;
}

export function numberIn(value: Shape, name: string): number | null {
  return typeof value[name] === "number" && Number.isFinite(value[name]) ? value[name] : null;
}
