/** Below the last item: prompts being sent, and whether the agent is working. */
import { memo, useState, useEffect } from "react";
import type { PromptItem, TranscriptTurn } from "../../contract/transcript.ts";
import { Button } from "../shared/ui/button.tsx";
import { useChat } from "./chat-context.ts";
import { Callout } from "./items/mark-row.tsx";
import { PromptRow } from "./items/prompt-row.tsx";
import { asPrompt, type UnsentPrompt } from "./unsent-prompts.ts";
import { ForceEnd } from "./turn-control.tsx";
import { LoaderCircle } from "lucide-react";
import { formatDuration } from "../../model/duration.ts";

export interface ChatFooterProps {
  starting: boolean;
  /** Whether a permission request is open. */
  asked: boolean;
  turn: TranscriptTurn | null;
  isEmpty: boolean;
  /** The queued prompt that is about to be sent. */
  next: PromptItem | null;
  unsent: readonly UnsentPrompt[];
  onTakeBack: (entry: UnsentPrompt) => void;
  onDiscard: (entry: UnsentPrompt) => void;
}

export const ChatFooter = memo(function ChatFooter(props: ChatFooterProps) {
  const { starting, asked, turn, isEmpty, next, unsent, onTakeBack, onDiscard } = props;
  const nothing = isEmpty && next === null && unsent.length === 0;
  return (
    <>
      {nothing && (
        <p className="py-12 text-center text-dim">
          {starting ? "Starting the agent." : "No messages yet. Write the first prompt below."}
        </p>
      )}
      {turn?.open === true && <WorkingLine key={turn.startedAt} turn={turn} asked={asked} />}
      {turn?.open === true && turn.answerMayBeLost && <LostAnswer />}
      {next !== null && <PromptRow prompt={{ ...next, state: "sending" }} />}
      {unsent.map((entry) => (
        <div key={entry.promptId}>
          <PromptRow prompt={asPrompt(entry)} />
          {entry.state === "refused" && (
            <div className="flex justify-end gap-2">
              <Button size="small" onClick={() => onTakeBack(entry)}>
                Edit again
              </Button>
              <Button size="small" variant="quiet" onClick={() => onDiscard(entry)}>
                Discard
              </Button>
            </div>
          )}
        </div>
      ))}
    </>
  );
});

function LostAnswer() {
  const { closed } = useChat();
  const [asking, setAsking] = useState(false);
  return (
    <Callout title="The answer may be lost">
      Part of the agent's output could not be read, possibly the end of this turn. If nothing follows, force-end the
      turn.
      <div className="mt-2">
        <Button size="small" disabled={closed !== null} onClick={() => setAsking(true)}>
          Force end turn
        </Button>
      </div>
      <ForceEnd open={asking} onClose={() => setAsking(false)} />
    </Callout>
  );
}

/** That the agent is working, and for how long: it may be silent for a while. */
function WorkingLine({ turn, asked }: { turn: TranscriptTurn; asked: boolean }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <p className="mt-3 flex items-center gap-2 text-xs text-busy">
      <span className="inline-flex animate-spin">
        <LoaderCircle size={14} aria-hidden />
      </span>
      <span>
        {turn.cancelling ? "Cancelling; waiting for the agent" : asked ? "Waiting for your answer" : "Working"}
      </span>
      <span className="text-dim tabular-nums">
        {formatDuration(Math.max(1, Math.round((now - turn.startedAt) / 1_000)) * 1_000)}
      </span>
    </p>
  );
}
