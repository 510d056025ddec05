import { useEffect, useState } from "react";
import { LoaderCircle } from "lucide-react";
import type { TranscriptTurn } from "../../contract/transcript.ts";
import { Turning } from "./turning.tsx";
import { formatDuration } from "../../model/duration.ts";

/** That the agent is at work, and for how long: silence is not death. */
export function WorkingLine({ turn, asked }: { turn: TranscriptTurn; asked: boolean }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <p className="mt-3 flex items-center gap-2 text-xs text-busy">
      <Turning>
        <LoaderCircle size={14} aria-hidden />
      </Turning>
      <span>
        {turn.cancelling ? "Asked to stop; waiting for the agent" : asked ? "Waiting for your answer" : "Working"}
      </span>
      <span className="text-dim tabular-nums">
        {formatDuration(Math.max(1, Math.round((now - turn.startedAt) / 1_000)) * 1_000)}
      </span>
    </p>
  );
}
