/**
 * What a tool call is about, read from the fields that the agent sent. Agents differ and may send anything: nothing here
 * assumes a shape before checking it. Shared by the permission rules, the CLI and the dashboard, so that the text a user
 * approves is the text that a rule is matched against.
 */
import { quoteShellWord } from "./text.ts";

/** What an option of a permission request does. Its name is the agent's own word: "Reject" may allow everything. */
const known: Record<string, string> = {
  allow_once: "allow once",
  allow_always: "allow always",
  reject_once: "reject once",
  reject_always: "reject always",
};

export function optionKindLabel(kind: string): string {
  if (Object.hasOwn(known, kind)) return known[kind]!;
  return kind === "" ? "effect not stated" : `effect unknown: ${kind}`;
}

/** The fields of `tool.updated` events, merged. */
export interface ToolCallFields {
  title?: string | undefined;
  kind?: string | undefined;
  content?: readonly unknown[] | undefined;
  locations?: readonly unknown[] | undefined;
  rawInput?: unknown;
}

export interface CallDiff {
  path: string;
  before: string;
  after: string;
}

export interface CallDetails {
  /** The agent's own words. */
  title: string | null;
  /** ACP's kind: read, edit, delete, move, search, execute, think, fetch, switch_mode, other. */
  kind: string | null;
  /** The command line, where the agent sent one apart from its title. */
  command: string | null;
  cwd: string | null;
  /** Every path that the call names, as the agent wrote it. */
  paths: string[];
  diffs: CallDiff[];
  /** Text that the agent attached to the call. */
  words: string;
  /** The rest of the input, as JSON; null where command and directory are all of it. */
  input: string | null;
  /** Inputs beside the command that may change what it does, such as `env` or a switch that turns a sandbox off. */
  extras: string[];
}

type Shape = Record<string, unknown>;

export function callDetails({ title, kind, content = [], locations = [], rawInput }: ToolCallFields): CallDetails {
  const input = shapeOf(rawInput);
  const diffs = content.flatMap(diffOf);
  const command = commandOf(input);
  const cwd = textIn(input, "cwd") ?? textIn(input, "workdir");
  return {
    title: title ?? null,
    kind: kind ?? null,
    command,
    cwd,
    paths: [...new Set([...locations.flatMap(pathOf), ...diffs.map(({ path }) => path), ...inputPaths(input)])],
    diffs,
    words: content.flatMap(wordsOf).join("\n"),
    input: otherInput(rawInput, command !== null, cwd !== null),
    extras: Object.keys(input).filter((key) => !harmless.has(key) && isSet(input[key])),
  };
}

/** A call's fields so far with those of a later update, where a missing field leaves the earlier one. */
export function mergeCall(before: ToolCallFields, update: ToolCallFields): ToolCallFields {
  const merged: ToolCallFields = { ...before };
  if (update.title !== undefined) merged.title = update.title;
  if (update.kind !== undefined) merged.kind = update.kind;
  if (update.content !== undefined) merged.content = update.content;
  if (update.locations !== undefined) merged.locations = update.locations;
  if (update.rawInput !== undefined && update.rawInput !== null) merged.rawInput = update.rawInput;
  return merged;
}

/** What agents send with a command that changes nothing about it. */
const harmless: ReadonlySet<string> = new Set(
  (
    "command cmd cwd workdir description reason justification parsed_cmd " +
    "timeout timeout_ms yield_time_ms max_output_tokens run_in_background call_id turn_id approval_id process_id"
  ).split(" "),
);

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== "";
}

/** Shells by their name, or where systems keep them: another program of that name is not one. */
const shell = /^(?:(?:\/usr(?:\/local)?|\/opt\/homebrew)?\/bin\/)?(?:ba|z|da|k)?sh$/;

function commandOf(input: Shape): string | null {
  // Which of the two it would run is not known; the input is shown as it came.
  if (isSet(input["command"]) && isSet(input["cmd"])) return null;
  const command = input["command"] ?? input["cmd"];
  if (typeof command === "string") return command;
  if (!Array.isArray(command) || command.length === 0 || !command.every((word) => typeof word === "string"))
    return null;
  const words: string[] = command;
  // Codex: ["bash", "-lc", "npm test"]; the script is the command line.
  const isScript = words.length === 3 && shell.test(words[0]!) && /^-l?c$/.test(words[1]!);
  return isScript ? words[2]! : words.map(quoteShellWord).join(" ");
}

const pathKey = /path|file|director|^dir$|source|destination|^uri$/i;

/** Paths by the names that agents use: file_path, filePath, abs_path, notebook_path, changes (its keys are paths). */
function inputPaths(input: Shape): string[] {
  return Object.entries(input).flatMap(([key, value]) => {
    if (key === "changes") return Object.keys(shapeOf(value));
    if (!pathKey.test(key)) return [];
    return (Array.isArray(value) ? (value as unknown[]) : [value]).flatMap((one) =>
      typeof one === "string" && one !== "" ? [one] : [],
    );
  });
}

function otherInput(rawInput: unknown, hasCommand: boolean, hasCwd: boolean): string | null {
  if (rawInput === undefined || rawInput === null) return null;
  if (typeof rawInput === "string") return rawInput;
  const shown = (hasCommand ? 1 : 0) + (hasCwd ? 1 : 0);
  if (!Array.isArray(rawInput) && Object.keys(shapeOf(rawInput)).length === shown) return null;
  return JSON.stringify(rawInput, null, 2);
}

function wordsOf(block: unknown): string[] {
  const { type, content } = shapeOf(block);
  const text = type === "content" ? textIn(shapeOf(content), "text") : null;
  return text === null || text === "" ? [] : [text];
}

function diffOf(block: unknown): CallDiff[] {
  const diff = shapeOf(block);
  const path = textIn(diff, "path");
  if (diff["type"] !== "diff" || path === null) return [];
  return [{ path, before: textIn(diff, "oldText") ?? "", after: textIn(diff, "newText") ?? "" }];
}

function pathOf(location: unknown): string[] {
  const path = textIn(shapeOf(location), "path");
  return path === null || path === "" ? [] : [path];
}

function shapeOf(value: unknown): Shape {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Shape) : {};
}

function textIn(value: Shape, name: string): string | null {
  return typeof value[name] === "string" ? value[name] : null;
}
