/**
 * The context primer: what was said and done before a context reset, as compact markdown for the next prompt. Pure, made
 * from our own events, because the agent's memory of them is what was lost.
 */
import type { StoredEvent } from "../contract/event.ts";
import type { PromptId } from "../contract/ids.ts";
import { primerEnd, primerHeading, type PrimerTurn, primerTurns } from "./recap-turns.ts";

export interface PrimerOptions {
  maxTurns?: number;
  maxChars?: number;
  /** There is more before `events` than is given: then what is left out cannot be counted. */
  more?: boolean;
  /** The text of a prompt that was admitted before the first of `events`. */
  promptText?: (promptId: PromptId) => string | null;
}

export interface Primer {
  /** Empty where there is nothing to tell. */
  markdown: string;
  turns: number;
  omitted: number;
}

/** What an agent needs to go on is in its latest turns; older ones are in the repository by then. */
const defaultMaxTurns = 20;
/** Some 6,000 tokens: a small part of any agent's window, and still read by a person before it is sent. */
const defaultMaxChars = 24_000;

const introduction =
  "Your own context of this conversation was lost. This is what was said and done, oldest turn first. Thoughts and what tools were given and returned are left out.";
const cutMark = "\n\n[... cut here: this turn is longer than what fits ...]\n\n";

/** `events` are those before the reset, in their order. */
export function contextPrimer(events: readonly StoredEvent[], options: PrimerOptions = {}): Primer {
  const { maxTurns = defaultMaxTurns, maxChars = defaultMaxChars, more = false, promptText = () => null } = options;
  const all = primerTurns(events, promptText).map((turn, at) => ({ title: `## Turn ${at + 1}`, body: bodyOf(turn) }));
  if (all.length === 0) return { markdown: "", turns: 0, omitted: 0 };
  const room = maxChars - frame([], all.length, more).length;
  const chosen = newest(all, maxTurns, room);
  const omitted = all.length - chosen.length;
  return { markdown: frame(chosen, omitted, more), turns: chosen.length, omitted };
}

/** From the newest one back, whole ones, without a gap. The newest is cut rather than left out. */
function newest(turns: readonly Titled[], maxTurns: number, room: number): string[] {
  const chosen: string[] = [];
  let left = room;
  for (const turn of turns.toReversed().slice(0, maxTurns)) {
    const text = textOf(turn);
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

interface Titled {
  title: string;
  body: string;
}

const separator = "\n\n";
const textOf = ({ title, body }: Titled): string => `${title}${separator}${body}`;

function frame(turns: readonly string[], omitted: number, more: boolean): string {
  const head = omitted === 0 && !more ? introduction : `${introduction} ${omission(omitted, more)}`;
  return `${[primerHeading, head, ...turns, primerEnd].join(separator)}\n`;
}

function omission(omitted: number, more: boolean): string {
  if (more) return "Earlier turns are left out.";
  return omitted === 1 ? "1 earlier turn is left out." : `${omitted} earlier turns are left out.`;
}

/**
 * Whether events, read back from the newest, hold more than a primer tells: nothing before them can be in it. Only what
 * follows the start of a turn counts.
 */
export function isEnoughForPrimer(events: readonly StoredEvent[]): boolean {
  let turns = 0;
  let chars = 0;
  for (const event of events) {
    if (event.type === "turn.started") turns++;
    else if (event.type === "agent.text" && turns > 0) chars += event.text.length;
  }
  return turns > defaultMaxTurns || chars > defaultMaxChars;
}

/** Keeps the beginning, which says what was wanted, and more of the end, which says where it stands. */
function cut(text: string, room: number): string {
  const space = Math.max(0, room - cutMark.length);
  const start = Math.floor(space / 3);
  return `${whole(text.slice(0, start))}${cutMark}${whole(text.slice(text.length - (space - start)))}`;
}

/** Without the half of a character that a cut left. */
function whole(text: string): string {
  return text.replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, "");
}

function bodyOf(turn: PrimerTurn): string {
  const parts: { text: string; inList?: true }[] = [];
  if (turn.resetBefore !== null) parts.push({ text: `(The context was reset here: ${turn.resetBefore})` });
  if (turn.prompt !== null) parts.push({ text: `**Person:** ${turn.prompt}` });
  let agentNamed = false;
  for (const part of turn.parts) {
    if (part.part === "line") {
      parts.push({ text: `- ${part.line}`, inList: true });
    } else if (part.text.trim() !== "") {
      parts.push({ text: `${agentNamed ? "" : "**Agent:** "}${part.text.trim()}` });
      agentNamed = true;
    }
  }
  if (turn.plan !== null) parts.push({ text: `Plan: ${turn.plan}` });
  if (turn.end !== null) parts.push({ text: `(${turn.end})` });
  return parts
    .map(({ text, inList }, at) => {
      if (at === 0) return text;
      return inList === true && parts[at - 1]?.inList === true ? `\n${text}` : separator + text;
    })
    .join("");
}
