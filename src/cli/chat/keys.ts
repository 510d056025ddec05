/** What a key means in an attached chat. Pure: the person's keys must never do something by surprise. */
import type { PermissionOption } from "../../model/session.ts";
import type { OpenQuestion } from "../render/transcript.ts";
import type { Paint } from "../render/text.ts";
import { optionText } from "../render/question.ts";

export interface KeyedOption {
  key: string;
  option: PermissionOption;
}

const preferred: Record<string, string> = { allow_once: "y", allow_always: "a", reject_once: "n", reject_always: "d" };
const others = "123456789bcefghijklmopqrstuvwxz";
/** A key that comes sooner was meant for something else: nobody has read the question yet. */
export const readingMs = 300;
/** Two Ctrl-C within this time leave. */
const twiceMs = 2_000;

/** By meaning where the agent says what an option means; its second of a kind, and what we do not know, by number. */
export function keysOf(options: readonly PermissionOption[]): KeyedOption[] {
  const free = others.split("");
  const taken = new Set<string>();
  return options.flatMap((option) => {
    const wanted = preferred[option.kind];
    const key = wanted === undefined || taken.has(wanted) ? free.shift() : wanted;
    if (key === undefined) return [];
    taken.add(key);
    return [{ key, option }];
  });
}

export function keysLine({ options }: OpenQuestion, paint: Paint): string {
  const keys = keysOf(options).map(({ key, option }) => `${paint.bold(`[${key}]`)} ${optionText(option)}`);
  return `  ${keys.join("   ")}`;
}

/** The option that these bytes from the keyboard choose. What is pasted, and what came too soon, chooses none. */
export function chosenBy(typed: string, question: OpenQuestion, shownForMs: number): PermissionOption | null {
  if (shownForMs < readingMs) return null;
  return keysOf(question.options).find(({ key }) => key === typed.toLowerCase())?.option ?? null;
}

export function meaningOfInterrupt(state: {
  sinceLastMs: number;
  hasLine: boolean;
  turnOpen: boolean;
}): "leave" | "clear-line" | "cancel" | "say-how" {
  if (state.sinceLastMs < twiceMs) return "leave";
  if (state.hasLine) return "clear-line";
  return state.turnOpen ? "cancel" : "say-how";
}
