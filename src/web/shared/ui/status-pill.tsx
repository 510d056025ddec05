import type { Status } from "../../../contract/ids.ts";
import { statusLabel, type Tone, toneOf } from "../../../model/board.ts";
import { clsx } from "clsx";

const tones: Record<Tone, string> = {
  alert: "bg-alert-soft text-alert",
  busy: "bg-busy-soft text-busy",
  good: "bg-good-soft text-good",
  calm: "bg-sunken text-dim",
  over: "bg-sunken text-dim",
};

export function StatusPill({
  of: { status, needsYou },
  className,
}: {
  of: { status: Status; needsYou?: boolean | undefined };
  className?: string;
}) {
  // An idle agent whose last turn failed needs the user too.
  const tone = needsYou === true ? "alert" : toneOf(status);
  return (
    <span
      data-status={status}
      className={clsx(
        "inline-flex items-center gap-1.5 rounded-full px-2 py-0.5 text-xs font-medium whitespace-nowrap",
        tones[tone],
        className,
      )}
    >
      <span
        aria-hidden
        className={clsx(
          "size-1.5 rounded-full bg-current",
          tone === "busy" && "animate-pulse",
          tone === "over" && "opacity-40",
        )}
      />
      {statusLabel(status)}
    </span>
  );
}
