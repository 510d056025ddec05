/** The text of an item, for search and copy; and the complete transcript as Markdown. */
import type { ToolItem, TranscriptItem } from "../../contract/transcript.ts";
import { plainOutput, safeText } from "./inert.ts";
import { diffLines, hunksOf } from "./line-diff.ts";
import { partsOf } from "./tool-parts.ts";
import { actorLabel, endText } from "../../model/event-text.ts";
import { damageText, launchText, turnEndText } from "../../model/transcript/item-text.ts";

const texts = new WeakMap<TranscriptItem, string>();

/** Computed once per item: an item that changes is another object. */
export function textOf(item: TranscriptItem): string {
  const known = texts.get(item);
  if (known !== undefined) return known;
  const text = safeText(rawTextOf(item));
  texts.set(item, text);
  return text;
}

function rawTextOf(item: TranscriptItem): string {
  switch (item.item) {
    case "prompt":
    case "text":
    case "thought":
    case "notice":
    case "workspace-output":
      return item.text;
    case "tool": {
      const { command, output, diffs, paths } = partsOf(item);
      const changes = diffs.flatMap(({ path, before, after }) => [path, before, after]);
      return [item.title, command, ...paths, output, ...changes].filter(Boolean).join("\n");
    }
    case "permission":
      return [item.title, ...item.options.map(({ name }) => name)].join("\n");
    case "turn-end":
      return turnEndText(item) ?? "";
    case "reset":
      return `Conversation context reset: ${item.reason}`;
    case "launch":
      return [launchText(item), ...item.lastLines].join("\n");
    case "ended":
      return [endText(item.how, item.exit), ...item.lastLines].join("\n");
    case "damaged":
      return damageText(item);
    case "auth":
      return item.message;
    case "mode":
      return `Mode: ${item.mode}`;
    case "model":
      return `Model: ${item.model}`;
    case "config":
      return `${item.id}: ${item.value}`;
    case "converted":
      return `Became a ${item.kind} session`;
    default:
      // A newer daemon may know more.
      return "";
  }
}

export function markdownOf(title: string, items: readonly TranscriptItem[]): string {
  const parts = items.flatMap((item) => markdownOfItem(item) ?? []);
  return `# ${title}\n\n${parts.join("\n\n")}\n`;
}

function markdownOfItem(item: TranscriptItem): string | null {
  if (item.item === "prompt") {
    const files = item.attachments.map(({ name }) => `*Attached: ${name}*`);
    const heading = `## Prompt (${new Date(item.at).toISOString()}, by ${actorLabel(item.by)})`;
    return [heading, item.text, ...files].join("\n\n");
  }
  if (item.item === "text") return item.text.trim() || null;
  if (item.item === "thought") return item.text.trim().replaceAll(/^/gm, "> ");
  if (item.item === "tool") return markdownOfTool(item);
  if (item.item === "permission") {
    const { answer, options, title } = item;
    if (answer === null) return `**Asked:** ${title} (not answered)`;
    const chosen = options.find(({ optionId }) => optionId === answer.optionId)?.name ?? answer.outcome;
    const by = answer.rule === undefined ? actorLabel(answer.by) : `rule ${answer.rule.number}`;
    return `**Asked:** ${title} (${chosen} by ${by})`;
  }
  if (item.item === "reset") return `---\n\n*Conversation context reset: ${item.reason}*`;
  if (item.item === "workspace-output") return fenced(plainOutput(item.text), "");
  const text = textOf(item);
  return text === "" ? null : `*${text.trim().replaceAll("\n", " ")}*`;
}

function markdownOfTool(item: ToolItem): string {
  const { command, output, diffs, paths, exitCode } = partsOf(item);
  const state = exitCode === null ? (item.status ?? "") : `exit ${exitCode}`;
  const changes = diffs.map(({ path, before, after }) => {
    const lines = hunksOf(diffLines(before, after)).flatMap((hunk) => hunk.lines);
    return fenced(`${path}\n${lines.map(({ sign, text }) => sign + text).join("\n")}`, "diff");
  });
  return [
    `**Tool:** ${item.title ?? item.kind ?? "call"}${state === "" ? "" : ` (${state})`}`,
    ...(command === null ? [] : [fenced(command, "sh")]),
    ...(paths.length === 0 ? [] : [paths.map((path) => `- ${path}`).join("\n")]),
    ...(output === "" ? [] : [fenced(output, "")]),
    ...changes,
  ].join("\n\n");
}

/** A fence longer than any inside. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.trimEnd()}\n${fence}`;
}
