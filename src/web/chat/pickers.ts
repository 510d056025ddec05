/** What the agent lets one pick: its mode, its model, and options of its own. Agents say it in three ways. */
import type { ConfigureRequest } from "../../contract/command.ts";
import type { TranscriptHead } from "../../contract/transcript.ts";
import { numberIn, shape, textIn } from "./tool-parts.ts";

export interface Picker {
  id: string;
  label: string;
  current: string;
  choices: { value: string; name: string; note: string }[];
  /** What is asked of the daemon for a choice. */
  ask: (value: string) => ConfigureRequest;
}

export function pickersOf({
  modes,
  models,
  configOptions,
}: Pick<TranscriptHead, "modes" | "models" | "configOptions">): Picker[] {
  const mode = listPicker({ from: shape(modes), list: "availableModes", current: "currentModeId", id: "id" });
  const model = listPicker({ from: shape(models), list: "availableModels", current: "currentModelId", id: "modelId" });
  const pickers: Picker[] = [];
  if (mode !== null) pickers.push({ ...mode, id: "mode", label: "Mode", ask: (value) => ({ mode: value }) });
  if (model !== null) pickers.push({ ...model, id: "model", label: "Model", ask: (value) => ({ model: value }) });
  for (const option of Array.isArray(configOptions) ? configOptions : []) {
    const picker = optionPicker(shape(option));
    // Some say their modes twice, as modes and as an option.
    if (picker !== null && !pickers.some(({ id }) => id === picker.id || id === textIn(shape(option), "category"))) {
      pickers.push(picker);
    }
  }
  return pickers;
}

interface ListShape {
  from: Record<string, unknown>;
  list: string;
  current: string;
  id: string;
}

function listPicker({ from, list, current, id }: ListShape): Pick<Picker, "current" | "choices"> | null {
  const all = Array.isArray(from[list]) ? (from[list] as unknown[]) : [];
  const choices = all.flatMap((one) => choiceOf(shape(one), id));
  return choices.length === 0 ? null : { current: textIn(from, current) ?? "", choices };
}

function optionPicker(option: Record<string, unknown>): Picker | null {
  const id = textIn(option, "id");
  const current = textIn(option, "currentValue");
  const options = Array.isArray(option["options"]) ? (option["options"] as unknown[]) : [];
  // Options may stand in groups.
  const flat = options.flatMap((one) => {
    const inner = shape(one)["options"];
    return Array.isArray(inner) ? (inner as unknown[]) : [one];
  });
  const choices = flat.flatMap((one) => choiceOf(shape(one), "value"));
  if (id === null || current === null || choices.length === 0) return null;
  const ask = (value: string): ConfigureRequest => ({ option: { id, value } });
  return { id, label: textIn(option, "name") ?? id, current, choices, ask };
}

function choiceOf(one: Record<string, unknown>, key: string): Picker["choices"] {
  const value = textIn(one, key);
  return value === null ? [] : [{ value, name: textIn(one, "name") ?? value, note: textIn(one, "description") ?? "" }];
}

/** How full the conversation is; null where the agent does not say. */
export function usageOf(usage: TranscriptHead["usage"]): { used: number; size: number | null } | null {
  const used = numberIn(usage ?? {}, "used");
  return used === null ? null : { used, size: numberIn(usage ?? {}, "size") };
}
