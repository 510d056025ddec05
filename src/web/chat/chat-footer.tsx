/** Below the last item: what is on its way, and whether the agent is at work. */
import { memo, useState, useEffect } from "react";
import type { PromptItem, TranscriptTurn } from "../../contract/transcript.ts";
import { Button } from "../shared/ui/button.tsx";
import { useChat } from "./chat-context.ts";
import { Callout } from "./items/mark-row.tsx";
import { PromptRow } from "./items/prompt-row.tsx";
import { asPrompt, type UnsentPrompt } from "./unsent-prompts.ts";
import { ForceEnd } from "./turn-control.tsx";
import { LoaderCircle } from "lucide-react";
import { durationWords } from "./words.ts";

export interface ChatFooterProps {
  starting: boolean;
  /** Whether a question of the agent is open. */
  asked: boolean;
  turn: TranscriptTurn | null;
  isEmpty: boolean;
  /** Taken by the daemon and about to be sent. */
  waiting: PromptItem | null;
  sending: readonly UnsentPrompt[];
  onTakeBack: (entry: UnsentPrompt) => void;
  onDrop: (entry: UnsentPrompt) => void;
}

export const ChatFooter = memo(function ChatFooter(props: ChatFooterProps) {
  const { starting, asked, turn, isEmpty, waiting, sending, onTakeBack, onDrop } = props;
  const nothing = isEmpty && waiting === null && sending.length === 0;
  return (
    <>
      {nothing && (
        <p className="py-12 text-center text-dim">
          {starting ? "The agent is being started." : "Nothing was said yet. Write the first prompt below."}
        </p>
      )}
      {turn?.open === true && <WorkingLine key={turn.startedAt} turn={turn} asked={asked} />}
      {turn?.open === true && turn.answerMayBeLost && <Lost />}
      {waiting !== null && <PromptRow prompt={{ ...waiting, state: "sending" }} />}
      {sending.map((entry) => (
        <div key={entry.promptId}>
          <PromptRow prompt={asPrompt(entry)} />
          {entry.state === "refused" && (
            <div className="flex justify-end gap-2">
              <Button size="small" onClick={() => onTakeBack(entry)}>
                Back to the composer
              </Button>
              <Button size="small" variant="quiet" onClick={() => onDrop(entry)}>
                Discard
              </Button>
            </div>
          )}
        </div>
      ))}
    </>
  );
});

function Lost() {
  const { closed } = useChat();
  const [asking, setAsking] = useState(false);
  return (
    <Callout title="The answer may be lost">
      Part of the agent's output could not be read, perhaps the end of this turn. If nothing more comes, end the turn
      here.
      <div className="mt-2">
        <Button size="small" disabled={closed !== null} onClick={() => setAsking(true)}>
          Force end turn
        </Button>
      </div>
      <ForceEnd open={asking} onClose={() => setAsking(false)} />
    </Callout>
  );
}

/** That the agent is at work, and for how long: silence is not death. */
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
        {turn.cancelling ? "Asked to stop; waiting for the agent" : asked ? "Waiting for your answer" : "Working"}
      </span>
      <span className="text-dim tabular-nums">{durationWords(Math.max(0, now - turn.startedAt))}</span>
    </p>
  );
}
