/** The agent's settings: mode, model and its own options, which agents report in three ways; and the context in use. */
import { useMemo, useState } from "react";
import type { TranscriptHead } from "../../contract/transcript.ts";
import { call } from "../shared/data/api.ts";
import { useMay } from "../shared/data/live.ts";
import { useAction } from "../shared/ui/toast.tsx";
import { useChat } from "./chat-context.ts";
import { safeText } from "./inert.ts";
import { formatCount } from "../../model/text.ts";
import type { ConfigureRequest } from "../../contract/chat.ts";
import { numberIn, shape, textIn } from "./tool-parts.ts";

type AgentSettings = Pick<TranscriptHead, "modes" | "models" | "configOptions" | "usage">;

export function PickerBar({ modes, models, configOptions, usage }: AgentSettings) {
  const pickers = useMemo(() => pickersOf({ modes, models, configOptions }), [modes, models, configOptions]);
  return (
    <div className="flex min-w-0 items-center gap-2 sm:gap-3">
      {pickers.map((picker) => (
        <PickOne key={picker.id} picker={picker} />
      ))}
      <Usage usage={usage} />
    </div>
  );
}

function PickOne({ picker }: { picker: Picker }) {
  const { session, closed } = useChat();
  const [picked, setPicked] = useState<string | null>(null);
  const may = useMay("all");
  const { run } = useAction();
  const pick = async (value: string): Promise<void> => {
    setPicked(value);
    await run(() => call("configure", { params: { id: session }, body: picker.request(value) }));
    setPicked(null);
  };
  const current = picked ?? picker.current;
  const isListed = picker.choices.some(({ value }) => value === current);
  return (
    <label className="flex min-w-0 items-center gap-1 text-xs text-dim">
      <span className="hidden sm:inline">{safeText(picker.label)}</span>
      <select
        aria-label={safeText(picker.label)}
        value={current}
        disabled={closed !== null || picked !== null || !may}
        onChange={(event) => void pick(event.target.value)}
        className="h-7 w-full max-w-40 min-w-0 rounded-md border border-line bg-panel px-1 text-xs text-text disabled:opacity-60 pointer-coarse:h-10"
      >
        {!isListed && <option value={current}>{safeText(current)}</option>}
        {picker.choices.map(({ value, name, note }) => (
          <option key={value} value={value} title={safeText(note)}>
            {safeText(name)}
          </option>
        ))}
      </select>
    </label>
  );
}

function Usage({ usage }: { usage: TranscriptHead["usage"] }) {
  const known = usageOf(usage);
  if (known === null) return null;
  const { used, size } = known;
  if (size === null || size <= 0)
    return <span className="text-xs text-dim tabular-nums">{formatCount(used)} tokens</span>;
  const part = Math.min(100, Math.round((100 * used) / size));
  return (
    <span
      className="hidden items-center gap-1.5 text-xs whitespace-nowrap text-dim tabular-nums sm:flex"
      title={`${used} of ${size} context tokens`}
    >
      <span
        role="meter"
        aria-label="Context used"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={part}
        className="h-1.5 w-12 overflow-hidden rounded-full bg-sunken outline outline-line"
      >
        <span className={`block h-full ${part > 80 ? "bg-alert" : "bg-accent"}`} style={{ width: `${part}%` }} />
      </span>
      {formatCount(used)} / {formatCount(size)}
    </span>
  );
}

interface Picker {
  id: string;
  label: string;
  current: string;
  choices: { value: string; name: string; note: string }[];
  /** The request for a choice. */
  request: (value: string) => ConfigureRequest;
}

export function pickersOf({ modes, models, configOptions }: Omit<AgentSettings, "usage">): Picker[] {
  const [mode, model] = [shape(modes), shape(models)];
  const pickers: Picker[] = [
    {
      id: "mode",
      label: "Mode",
      current: textIn(mode, "currentModeId") ?? "",
      choices: choicesOf(mode["availableModes"], "id"),
      request: (value: string) => ({ mode: value }),
    },
    {
      id: "model",
      label: "Model",
      current: textIn(model, "currentModelId") ?? "",
      choices: choicesOf(model["availableModels"], "modelId"),
      request: (value: string) => ({ model: value }),
    },
  ].filter(({ choices }) => choices.length > 0);
  for (const option of listOf(configOptions)) {
    const picker = optionPicker(shape(option));
    // Some agents report their modes twice, as modes and as an option.
    if (picker !== null && !pickers.some(({ id }) => id === picker.id || id === textIn(shape(option), "category"))) {
      pickers.push(picker);
    }
  }
  return pickers;
}

function optionPicker(option: Record<string, unknown>): Picker | null {
  const id = textIn(option, "id");
  const current = textIn(option, "currentValue");
  // Options may be grouped.
  const choices = listOf(option["options"]).flatMap((one) => choicesOf(shape(one)["options"] ?? [one], "value"));
  if (id === null || current === null || choices.length === 0) return null;
  const request = (value: string): ConfigureRequest => ({ option: { id, value } });
  return { id, label: textIn(option, "name") ?? id, current, choices, request };
}

function choicesOf(list: unknown, key: string): Picker["choices"] {
  return listOf(list)
    .map(shape)
    .flatMap((one) => {
      const value = textIn(one, key);
      if (value === null) return [];
      return [{ value, name: textIn(one, "name") ?? value, note: textIn(one, "description") ?? "" }];
    });
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The context in use; null if the agent does not report it. */
export function usageOf(usage: TranscriptHead["usage"]): { used: number; size: number | null } | null {
  const used = numberIn(usage ?? {}, "used");
  return used === null ? null : { used, size: numberIn(usage ?? {}, "size") };
}
