/** A permission request in full: the user must be able to read all of it before approving. */
import { optionKindLabel, type CallDetails, type CallDiff } from "../../model/tool-call.ts";
import type { PermissionOption } from "../../contract/ids.ts";
import { type Paint, clean, visible } from "./text.ts";

export interface ShownRequest extends CallDetails {
  id: string;
  title: string;
  options: readonly PermissionOption[];
}

/** Lines of context around a change. */
const context = 3;

/** `[permission q12] Run tests`, and below it the call in full. */
export function requestLines(question: ShownRequest, paint: Paint): string[] {
  return [
    paint.yellow(`[permission ${clean(question.id)}] ${visible(question.title).replaceAll("\n", " ")}`),
    ...detailLines(question, paint),
    ...(question.options.length === 0
      ? []
      : [`  ${paint.dim("options")} ${question.options.map(optionText).join(", ")}`]),
  ];
}

/** `rule 2 (allow tool "execute")`; null if no rule answered. */
export function answeredBy(rule: unknown): string | null {
  const { number, text } = (rule ?? {}) as { number?: unknown; text?: unknown };
  if (typeof number !== "number") return null;
  return `rule ${number}${typeof text === "string" ? ` (${clean(text)})` : ""}`;
}

/** The effect first: the agent chooses the name behind it. */
export function optionText({ kind, name }: PermissionOption): string {
  return `${optionKindLabel(clean(kind))}: ${visible(name).replaceAll("\n", " ")}`;
}

export function detailLines(question: Omit<ShownRequest, "options" | "id">, paint: Paint): string[] {
  const { kind, command, cwd, paths, diffs, words, input } = question;
  const named = new Set(diffs.map(({ path }) => path));
  const others = paths.filter((path) => !named.has(path));
  return [
    ...field("kind", kind, paint),
    ...field("command", command, paint),
    ...field("directory", cwd, paint),
    ...field("paths", others.length === 0 ? null : others.join("\n"), paint),
    ...diffs.flatMap((diff) => diffLines(diff, paint)),
    ...field("input", input, paint),
    ...field("text", words === "" ? null : words, paint),
  ];
}

/** One line next to its name, more below it, each marked: an agent's text cannot pass for a line of ours. */
function field(name: string, value: string | null, paint: Paint): string[] {
  if (value === null) return [];
  const lines = visible(value).split("\n");
  if (lines.length === 1) return [`  ${paint.dim(name)} ${lines[0]!}`];
  return [`  ${paint.dim(name)}`, ...lines.map((line) => `  ${paint.dim("|")} ${line}`)];
}

/** Every changed line; equal ones at both ends are counted. */
function diffLines({ path, before, after }: CallDiff, paint: Paint): string[] {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  const shortest = Math.min(old.length, fresh.length);
  let start = 0;
  while (start < shortest && old[start] === fresh[start]) start++;
  let end = 0;
  while (end < shortest - start && old.at(-1 - end) === fresh.at(-1 - end)) end++;
  const lead = old.slice(Math.max(0, start - context), start);
  const trail = old.slice(old.length - end, old.length - end + context);
  const skipped = (count: number): string[] =>
    count <= 0 ? [] : [paint.dim(`  | ${count} unchanged ${count === 1 ? "line" : "lines"}`)];
  return [
    `  ${paint.dim(before === "" ? "new file" : "diff")} ${visible(path).replaceAll("\n", " ")}`,
    ...skipped(start - lead.length),
    ...lead.map((line) => `  |   ${line}`),
    ...old.slice(start, old.length - end).map((line) => paint.red(`  | - ${line}`)),
    ...fresh.slice(start, fresh.length - end).map((line) => paint.green(`  | + ${line}`)),
    ...trail.map((line) => `  |   ${line}`),
    ...skipped(end - trail.length),
  ];
}

function linesOf(text: string): string[] {
  return text === "" ? [] : visible(text).replace(/\n$/, "").split("\n");
}
