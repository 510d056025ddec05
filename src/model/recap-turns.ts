/** The turns of a conversation as the context primer tells them: prompts and words whole, each tool call one line. */
import type { StoredEvent } from "../contract/event.ts";
import type { PromptId } from "../contract/ids.ts";
import { isRecord, isText } from "./acp.ts";

export interface PrimerTurn {
  prompt: string | null;
  parts: PrimerPart[];
  /** The last plan of the turn, on one line. */
  plan: string | null;
  /** How it ended, where that needs saying. */
  end: string | null;
  /** Why the agent had forgotten everything before this turn. */
  resetBefore: string | null;
}

/** A primer begins and ends with these lines, so that one in a prompt is recognised. */
export const primerHeading = "# Earlier conversation";
export const primerEnd = "--- End of the earlier conversation ---";

export type PrimerPart = { part: "text"; text: string } | { part: "line"; line: string };

export function primerTurns(
  events: readonly StoredEvent[],
  promptText: (promptId: PromptId) => string | null,
): PrimerTurn[] {
  const teller = new Teller(promptText);
  for (const event of events) if (isTold(event)) teller.tell(event);
  return teller.turns();
}

/** How the session is run is no part of what was said. */
export const toldTypes = [
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
type Told = Extract<StoredEvent, { type: (typeof toldTypes)[number] }>;

function isTold(event: StoredEvent): event is Told {
  return (toldTypes as readonly string[]).includes(event.type);
}

type ToolUpdated = Extract<StoredEvent, { type: "tool.updated" }>;

interface Tool {
  title: string;
  kind: string;
  status: string;
  places: Set<string>;
  permission: string | null;
}

type Draft = Omit<PrimerTurn, "parts"> & { parts: DraftPart[]; ended: boolean };
type DraftPart = { part: "text"; text: string } | { part: "line"; line: string } | { part: "tool"; tool: Tool };

/** A title may be a whole shell script. */
const maxTitleChars = 200;
const maxPlanChars = 600;
const maxPlaces = 4;

const unsaid = { plan: null, end: null, ended: false };

class Teller {
  readonly #turns: Draft[] = [];
  readonly #prompts = new Map<PromptId, string>();
  readonly #tools = new Map<string, Tool>();
  readonly #asked = new Map<string, { event: Extract<StoredEvent, { type: "permission.asked" }>; part: DraftPart }>();
  readonly #promptText: (promptId: PromptId) => string | null;
  #reset: string | null = null;

  constructor(promptText: (promptId: PromptId) => string | null) {
    this.#promptText = promptText;
  }

  tell(event: Told): void {
    switch (event.type) {
      case "prompt.admitted":
      case "prompt.edited":
        return void this.#prompts.set(event.promptId, event.text);
      case "turn.started":
        return this.#begin(event.promptId);
      case "agent.text":
        return this.#text(event.text);
      case "tool.updated":
        return this.#tool(event);
      case "plan.updated":
        this.#open().plan = planLine(event.entries);
        return;
      case "permission.asked":
        return this.#ask(event);
      case "permission.answered":
        return this.#answer(event);
      case "turn.ended":
        return this.#end(event);
      case "output.damaged":
        return void this.#open().parts.push({
          part: "line",
          line: "part of the agent's output was lost here",
        });
      case "context.reset":
        this.#reset = oneLine(event.reason, maxTitleChars);
        return;
      default:
        return event satisfies never;
    }
  }

  turns(): PrimerTurn[] {
    return this.#turns.map(({ ended, parts, ...turn }) => ({
      ...turn,
      parts: parts.map((part) => (part.part === "tool" ? { part: "line", line: toolLine(part.tool) } : part)),
      end: ended ? turn.end : "This turn had not ended.",
    }));
  }

  #begin(promptId: PromptId | null): void {
    const text = promptId === null ? null : (this.#prompts.get(promptId) ?? this.#promptText(promptId));
    const prompt = withoutPrimer(text ?? "").trim();
    this.#turns.push({ prompt: prompt === "" ? null : prompt, ...unsaid, resetBefore: this.#reset, parts: [] });
    this.#reset = null;
    this.#asked.clear();
    // Some agents number their tool calls anew in each turn; what still runs may be told of later.
    for (const [id, tool] of this.#tools) if (isOver(tool)) this.#tools.delete(id);
  }

  /** What comes after a turn (a tool's late end, words without a turn) belongs to it. */
  #open(): Draft {
    if (this.#turns.length === 0) this.#begin(null);
    return this.#turns.at(-1)!;
  }

  #text(text: string): void {
    const { parts } = this.#open();
    const last = parts.at(-1);
    if (last?.part === "text") last.text += text;
    else parts.push({ part: "text", text });
  }

  #tool(event: ToolUpdated): void {
    let tool = this.#tools.get(event.toolCallId);
    if (tool === undefined) {
      tool = { title: "", kind: "", status: "", places: new Set(), permission: null };
      this.#tools.set(event.toolCallId, tool);
      this.#open().parts.push({ part: "tool", tool });
    }
    if (event.title !== undefined && event.title.trim() !== "") tool.title = event.title;
    if (event.kind !== undefined) tool.kind = event.kind;
    if (event.status !== undefined) tool.status = event.status;
    for (const place of placesOf(event)) tool.places.add(place);
  }

  #ask(event: Extract<StoredEvent, { type: "permission.asked" }>): void {
    const tool = event.toolCallId === undefined ? undefined : this.#tools.get(event.toolCallId);
    const part: DraftPart =
      tool === undefined
        ? { part: "line", line: `permission asked: ${oneLine(event.title, maxTitleChars)}: not answered` }
        : { part: "tool", tool };
    if (tool === undefined) this.#open().parts.push(part);
    else tool.permission = "not answered";
    this.#asked.set(event.requestId, { event, part });
  }

  #answer(event: Extract<StoredEvent, { type: "permission.answered" }>): void {
    const asked = this.#asked.get(event.requestId);
    if (asked === undefined) return;
    const option = asked.event.options.find(({ optionId }) => optionId === event.optionId);
    const answer = event.outcome === "cancelled" ? "cancelled" : (option?.name ?? event.optionId ?? "answered");
    if (asked.part.part === "tool") asked.part.tool.permission = answer;
    else if (asked.part.part === "line") {
      asked.part.line = `permission asked: ${oneLine(asked.event.title, maxTitleChars)}: ${oneLine(answer, maxTitleChars)}`;
    }
  }

  #end({ stopReason, message }: Extract<StoredEvent, { type: "turn.ended" }>): void {
    const turn = this.#open();
    turn.ended = true;
    const usual = stopReason === "end_turn" || stopReason === "quiet";
    const detail = message === undefined ? "" : `: ${oneLine(message, maxTitleChars)}`;
    turn.end = usual ? null : `The turn ended with ${stopReason}${detail}`;
  }
}

function isOver({ status }: Tool): boolean {
  return status === "completed" || status === "failed";
}

function toolLine({ title, kind, status, places, permission }: Tool): string {
  const name = oneLine(title === "" ? kind : title, maxTitleChars);
  const notes = [
    ...(status === "" || status === "completed" ? [] : [status.replaceAll("_", " ")]),
    ...(permission === null ? [] : [`permission: ${oneLine(permission, maxTitleChars)}`]),
  ];
  const told = [...places].filter((place) => !name.includes(place));
  const shown = told.slice(0, maxPlaces).map((place) => oneLine(place, maxTitleChars));
  const more = told.length > maxPlaces ? [`${told.length - maxPlaces} more`] : [];
  return [
    "tool",
    ...(notes.length === 0 ? [] : [` (${notes.join(", ")})`]),
    `: ${name === "" ? "without a title" : name}`,
    ...(shown.length === 0 ? [] : [` [${[...shown, ...more].join(", ")}]`]),
  ].join("");
}

/** Which files it was about; what it read or wrote there is in the repository. */
function placesOf({ locations = [], content = [] }: ToolUpdated): string[] {
  const diffs = content.filter((item) => isRecord(item) && item["type"] === "diff");
  return [...locations, ...diffs].flatMap((item) => (isRecord(item) && isText(item["path"]) ? [item["path"]] : []));
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
  return line.length <= maxChars ? line : `${line.slice(0, maxChars - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** A primer that was sent as part of a prompt tells turns that are told here themselves. */
function withoutPrimer(text: string): string {
  if (!text.trimStart().startsWith(primerHeading)) return text;
  const end = text.lastIndexOf(primerEnd);
  return end === -1 ? text : text.slice(end + primerEnd.length);
}
