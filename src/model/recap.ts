/**
 * The recap: the conversation before a context reset, as compact Markdown for the next prompt. It is made from our
 * own events, because the agent lost its memory of them. Prompts and text are complete; each tool call is one line.
 */
import type { StoredEvent } from "../contract/event.ts";
import type { PromptId } from "../contract/ids.ts";
import type { PermissionItem, ToolItem, TranscriptItem } from "../contract/transcript.ts";
import { isRecord, isText } from "./acp.ts";
import { TranscriptBuilder } from "./transcript/builder.ts";

export interface RecapOptions {
  maxTurns?: number;
  maxChars?: number;
  /** There are events before the given ones, so omitted turns cannot be counted. */
  more?: boolean;
  /** The text of a prompt that was admitted before the first event. */
  promptText?: (promptId: PromptId) => string | null;
}

export interface Recap {
  /** Empty without a conversation. */
  markdown: string;
  turns: number;
  omitted: number;
}

/** An agent needs its latest turns to continue; the results of older ones are in the repository by then. */
const defaultMaxTurns = 20;
/** About 6,000 tokens: a small part of any agent's window, and short enough for the user to read before sending. */
const defaultMaxChars = 24_000;

/** A recap begins and ends with these lines, so that one inside a prompt is recognized. */
const heading = "# Earlier conversation";
const endLine = "--- End of the earlier conversation ---";
const introduction =
  "Your context for this conversation was lost. Here is a recap, oldest turn first, without thoughts or tool input and output.";
const cutMark = "\n\n[... cut here: this turn is too long ...]\n\n";
const separator = "\n\n";

/** A title may be a complete shell script. */
const maxTitleChars = 200;
const maxPlanChars = 600;
const maxPaths = 4;

/** The events that a recap is made from. */
export const recapTypes = [
  "prompt.admitted",
  "prompt.edited",
  "turn.started",
  "turn.ended",
  "agent.text",
  "tool.updated",
  "plan.updated",
  "permission.asked",
  "permission.answered",
  "output.damaged",
  "context.reset",
] as const;

/** @param events those before the reset, in order. */
export function makeRecap(events: readonly StoredEvent[], options: RecapOptions = {}): Recap {
  const { maxTurns = defaultMaxTurns, maxChars = defaultMaxChars, more = false, promptText = () => null } = options;
  const all = turnsOf(events, promptText).map((turn, at) => `## Turn ${at + 1}${separator}${bodyOf(turn)}`);
  if (all.length === 0) return { markdown: "", turns: 0, omitted: 0 };
  const room = maxChars - frame([], all.length, more).length;
  const chosen = newest(all, maxTurns, room);
  const omitted = all.length - chosen.length;
  return { markdown: frame(chosen, omitted, more), turns: chosen.length, omitted };
}

/**
 * Whether events, read back from the newest, contain more than a recap does: nothing before them can be in it. Only text
 * after the start of a turn counts.
 */
export function isEnoughForRecap(events: readonly StoredEvent[]): boolean {
  let turns = 0;
  let chars = 0;
  for (const event of events) {
    if (event.type === "turn.started") turns++;
    else if (event.type === "agent.text" && turns > 0) chars += event.text.length;
  }
  return turns > defaultMaxTurns || chars > defaultMaxChars;
}

/** Complete turns from the newest back, without a gap. The newest is cut rather than left out. */
function newest(turns: readonly string[], maxTurns: number, room: number): string[] {
  const chosen: string[] = [];
  let left = room;
  for (const text of turns.toReversed().slice(0, maxTurns)) {
    const size = text.length + separator.length;
    if (size > left) {
      if (chosen.length === 0) chosen.push(cut(text, left - separator.length));
      break;
    }
    left -= size;
    chosen.unshift(text);
  }
  return chosen;
}

function frame(turns: readonly string[], omitted: number, more: boolean): string {
  const head = omitted === 0 && !more ? introduction : `${introduction} ${omission(omitted, more)}`;
  return `${[heading, head, ...turns, endLine].join(separator)}\n`;
}

function omission(omitted: number, more: boolean): string {
  if (more) return "Earlier turns are left out.";
  return omitted === 1 ? "1 earlier turn is left out." : `${omitted} earlier turns are left out.`;
}

/** Keeps the beginning, which states the task, and more of the end, which states the result. */
function cut(text: string, room: number): string {
  const space = Math.max(0, room - cutMark.length);
  const start = Math.floor(space / 3);
  return `${wellFormed(text.slice(0, start))}${cutMark}${wellFormed(text.slice(text.length - (space - start)))}`;
}

/** Drops the half of a surrogate pair that a cut left at either end. */
function wellFormed(text: string): string {
  return text.replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, "");
}

interface Turn {
  /** The event that started it. */
  seq: number;
  prompt: string | null;
  /** Why the agent had forgotten everything before this turn. */
  resetBefore: string | null;
  /** The last plan, on one line. */
  plan: string | null;
  items: TranscriptItem[];
}

/** The reducer's items, grouped by the event that started their turn. */
function turnsOf(events: readonly StoredEvent[], promptText: (promptId: PromptId) => string | null): Turn[] {
  const builder = new TranscriptBuilder();
  const turns: Turn[] = [];
  let resetBefore: string | null = null;
  for (const event of events) {
    builder.push(event);
    if (event.type === "context.reset") resetBefore = oneLine(event.reason, maxTitleChars);
    const latest = turns.at(-1);
    if (event.type === "plan.updated" && latest !== undefined) latest.plan = planLine(event.entries);
    if (event.type !== "turn.started") continue;
    const { seq, promptId } = event;
    const queued = builder.head.queue.find((prompt) => prompt.promptId === promptId);
    const text = promptId === null ? null : (queued?.text ?? promptText(promptId));
    turns.push({ seq, prompt: withoutRecap(text ?? "").trim() || null, resetBefore, plan: null, items: [] });
    resetBefore = null;
  }
  let at = -1;
  for (const item of builder.transcript().items) {
    while ((turns[at + 1]?.seq ?? Infinity) < item.seq) at++;
    if (at === -1 && item.item === "reset") continue;
    // Text without a turn gets one; late output belongs to the previous turn.
    if (at === -1) turns.splice(++at, 0, { seq: 0, prompt: null, resetBefore: null, plan: null, items: [] });
    turns[at]!.items.push(item);
  }
  return turns;
}

function bodyOf({ prompt, resetBefore, plan, items }: Turn): string {
  const parts = [
    ...(resetBefore === null ? [] : [`(The context was reset here: ${resetBefore})`]),
    ...(prompt === null ? [] : [`**User:** ${prompt}`]),
    ...agentParts(items),
    ...(plan === null ? [] : [`Plan: ${plan}`]),
  ];
  const end = items.findLast((item) => item.item === "turn-end");
  const note = end === undefined ? "This turn did not finish." : endNote(end);
  return [...parts, ...(note === null ? [] : [`(${note})`])].join(separator);
}

/** Paragraphs of text, and lists of other items. */
function agentParts(items: readonly TranscriptItem[]): string[] {
  const calls = new Set(items.map((item) => (item.item === "tool" ? item.toolCallId : null)));
  const permissions = items.filter((item) => item.item === "permission");
  const parts: { text: string; isList: boolean }[] = [];
  const add = (text: string, isList: boolean): void => {
    const last = parts.at(-1);
    if (last?.isList === isList) last.text += isList ? `\n${text}` : text;
    else parts.push({ text, isList });
  };
  for (const item of items) {
    if (item.item === "text") {
      // Blank text does not divide a list.
      if (item.text.trim() !== "" || parts.at(-1)?.isList === false) add(item.text, false);
    } else if (item.item === "tool") {
      const permission = permissions.findLast(({ toolCallId }) => toolCallId === item.toolCallId);
      add(`- ${toolLine(item, permission)}`, true);
    } else if (item.item === "permission" && (item.toolCallId === null || !calls.has(item.toolCallId))) {
      add(`- permission asked: ${oneLine(item.title, maxTitleChars)}: ${answerOf(item)}`, true);
    } else if (item.item === "damaged") add("- part of the agent's output was lost here", true);
  }
  const first = parts.find(({ text, isList }) => !isList && text.trim() !== "");
  return parts.flatMap((part) => {
    const text = part.text.trim();
    return text === "" ? [] : [part === first ? `**Agent:** ${text}` : text];
  });
}

function answerOf({ answer, options }: PermissionItem): string {
  if (answer === null) return "not answered";
  if (answer.outcome === "cancelled") return "cancelled";
  const option = options.find(({ optionId }) => optionId === answer.optionId);
  return oneLine(option?.name ?? answer.optionId ?? "answered", maxTitleChars);
}

function endNote({ stopReason, message }: Extract<TranscriptItem, { item: "turn-end" }>): string | null {
  if (stopReason === "end_turn" || stopReason === "quiet") return null;
  return `The turn ended with ${stopReason}${message === null ? "" : `: ${oneLine(message, maxTitleChars)}`}`;
}

function toolLine(tool: ToolItem, permission: PermissionItem | undefined): string {
  const { title, kind, status } = tool;
  const name = oneLine(title?.trim() || (kind ?? ""), maxTitleChars) || "without a title";
  const notes = [
    ...(status === null || status === "completed" ? [] : [status.replaceAll("_", " ")]),
    ...(permission === undefined ? [] : [`permission: ${answerOf(permission)}`]),
  ];
  const paths = pathsOf(tool).filter((path) => !name.includes(path));
  const shown = paths.slice(0, maxPaths).map((path) => oneLine(path, maxTitleChars));
  const more = paths.length > maxPaths ? [`${paths.length - maxPaths} more`] : [];
  const noted = notes.length === 0 ? "" : ` (${notes.join(", ")})`;
  return `tool${noted}: ${name}${shown.length === 0 ? "" : ` [${[...shown, ...more].join(", ")}]`}`;
}

/** The files it was about; their contents are in the repository. */
function pathsOf({ locations, content }: ToolItem): string[] {
  const diffs = content.filter((item) => isRecord(item) && item["type"] === "diff");
  const paths = [...locations, ...diffs].flatMap((item) =>
    isRecord(item) && isText(item["path"]) ? [item["path"]] : [],
  );
  return [...new Set(paths)];
}

const marks: Record<string, string> = { completed: "[x]", in_progress: "[~]" };

function planLine(entries: readonly unknown[]): string | null {
  const steps = entries.flatMap((entry) => {
    if (!isRecord(entry) || !isText(entry["content"])) return [];
    const mark = isText(entry["status"]) ? marks[entry["status"]] : undefined;
    return [`${mark ?? "[ ]"} ${oneLine(entry["content"], maxTitleChars)}`];
  });
  return steps.length === 0 ? null : oneLine(steps.join("; "), maxPlanChars);
}

function oneLine(text: string, maxChars: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= maxChars ? line : `${wellFormed(line.slice(0, maxChars - 1))}…`;
}

/** A recap that was sent as part of a prompt repeats turns that are listed here themselves. */
function withoutRecap(text: string): string {
  if (!text.trimStart().startsWith(heading)) return text;
  const end = text.lastIndexOf(endLine);
  return end === -1 ? text : text.slice(end + endLine.length);
}
