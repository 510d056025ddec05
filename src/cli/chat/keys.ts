/** What a key means in an attached chat. A key must never have a surprising effect. */
import type { PermissionOption } from "../../contract/ids.ts";
import type { OpenRequest } from "../render/transcript.ts";
import type { Paint } from "../render/text.ts";
import { optionText } from "../render/permission-request.ts";

export interface KeyedOption {
  key: string;
  option: PermissionOption;
}

const preferred: Record<string, string> = { allow_once: "y", allow_always: "a", reject_once: "n", reject_always: "d" };
const others = "123456789bcefghijklmopqrstuvwxz";
/** An earlier key was meant for something else: the user cannot have read the request yet. */
export const readingMs = 300;
/** Ctrl-C twice within this time detaches. */
const twiceMs = 2_000;

/** Known kinds of options have mnemonic keys; a second option of a kind, and unknown kinds, have numbers. */
export function keysOf(options: readonly PermissionOption[]): KeyedOption[] {
  const free = others.split("");
  const taken = new Set<string>();
  return options.flatMap((option) => {
    const mnemonic = preferred[option.kind];
    const key = mnemonic === undefined || taken.has(mnemonic) ? free.shift() : mnemonic;
    if (key === undefined) return [];
    taken.add(key);
    return [{ key, option }];
  });
}

export function keysLine({ options }: OpenRequest, paint: Paint): string {
  const keys = keysOf(options).map(({ key, option }) => `${paint.bold(`[${key}]`)} ${optionText(option)}`);
  return `  ${keys.join("   ")}`;
}

/** The option that these bytes from the keyboard choose; null for pasted text and for keys that came too early. */
export function chosenBy(typed: string, question: OpenRequest, shownForMs: number): PermissionOption | null {
  if (shownForMs < readingMs) return null;
  return keysOf(question.options).find(({ key }) => key === typed.toLowerCase())?.option ?? null;
}

export function meaningOfInterrupt(state: {
  sinceLastMs: number;
  hasLine: boolean;
  turnOpen: boolean;
}): "leave" | "clear-line" | "cancel" | "show-hint" {
  if (state.sinceLastMs < twiceMs) return "leave";
  if (state.hasLine) return "clear-line";
  return state.turnOpen ? "cancel" : "show-hint";
}
