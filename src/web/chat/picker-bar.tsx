import { useMemo, useState } from "react";
import type { TranscriptHead } from "../../contract/transcript.ts";
import { call, sentenceOf } from "../state/api.ts";
import { useMay } from "../state/live.ts";
import { say } from "../ui/toast.tsx";
import { useChat } from "./chat-context.ts";
import { safeText } from "./inert.ts";
import { pickersOf, usageOf, type Picker } from "./pickers.ts";
import { formatCount } from "../../model/text.ts";

type Picks = Pick<TranscriptHead, "modes" | "models" | "configOptions" | "usage">;

export function PickerBar({ modes, models, configOptions, usage }: Picks) {
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
  const [asked, setAsked] = useState<string | null>(null);
  const may = useMay("all");
  const pick = async (value: string): Promise<void> => {
    setAsked(value);
    try {
      await call("configure", { params: { id: session }, body: picker.ask(value) });
    } catch (error) {
      say(sentenceOf(error), "fault");
    } finally {
      setAsked(null);
    }
  };
  const current = asked ?? picker.current;
  const isListed = picker.choices.some(({ value }) => value === current);
  return (
    <label className="flex min-w-0 items-center gap-1 text-xs text-dim">
      <span className="hidden sm:inline">{safeText(picker.label)}</span>
      <select
        aria-label={safeText(picker.label)}
        value={current}
        disabled={closed !== null || asked !== null || !may}
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
      title={`${used} of ${size} tokens of context`}
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
