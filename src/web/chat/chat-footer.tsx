/** Below the last item: prompts being sent, and whether the agent is working; and the button that cancels its turn. */
import { memo, useState, useEffect } from "react";
import type { PromptItem, TranscriptTurn } from "../../contract/transcript.ts";
import { call } from "../shared/data/api.ts";
import { useMay } from "../shared/data/live.ts";
import { Button } from "../shared/ui/button.tsx";
import { Dialog } from "../shared/ui/dialog.tsx";
import { showToast, useAction } from "../shared/ui/toast.tsx";
import { useChat } from "./chat-context.ts";
import { Callout } from "./items/mark-row.tsx";
import { PromptRow } from "./items/prompt-row.tsx";
import { asPrompt, type UnsentPrompt } from "./unsent-prompts.ts";
import { LoaderCircle, Square } from "lucide-react";
import { formatDuration } from "../../model/duration.ts";

export interface ChatFooterProps {
  starting: boolean;
  /** Whether a permission request is open. */
  hasRequest: boolean;
  turn: TranscriptTurn | null;
  isEmpty: boolean;
  /** The queued prompt that is about to be sent. */
  next: PromptItem | null;
  unsent: readonly UnsentPrompt[];
  onTakeBack: (entry: UnsentPrompt) => void;
  onDiscard: (entry: UnsentPrompt) => void;
}

export const ChatFooter = memo(function ChatFooter(props: ChatFooterProps) {
  const { starting, hasRequest, turn, isEmpty, next, unsent, onTakeBack, onDiscard } = props;
  const nothing = isEmpty && next === null && unsent.length === 0;
  return (
    <>
      {nothing && (
        <p className="py-12 text-center text-dim">
          {starting ? "Starting the agent." : "No messages yet. Write the first prompt below."}
        </p>
      )}
      {turn?.open === true && <WorkingLine key={turn.startedAt} turn={turn} hasRequest={hasRequest} />}
      {turn?.open === true && turn.answerMayBeLost && <LostReply />}
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

function LostReply() {
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
function WorkingLine({ turn, hasRequest }: { turn: TranscriptTurn; hasRequest: boolean }) {
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
        {turn.cancelling ? "Cancelling; waiting for the agent" : hasRequest ? "Waiting for your answer" : "Working"}
      </span>
      <span className="text-dim tabular-nums">
        {formatDuration(Math.max(1, Math.round((now - turn.startedAt) / 1_000)) * 1_000)}
      </span>
    </p>
  );
}

/** Cancels a turn; if the agent does not respond, the user can force-end it. */
export function TurnControl({ turn }: { turn: TranscriptTurn }) {
  const { session, closed } = useChat();
  const [asking, setAsking] = useState(false);
  const { run } = useAction();
  const cancel = async (): Promise<void> => {
    if (turn.cancelling) return setAsking(true);
    await run(async () => {
      const { cancelled, reason } = await call("cancel", { params: { id: session }, body: { wait: false } });
      if (!cancelled && reason !== null) showToast(reason);
    });
  };
  return (
    <>
      <Button
        variant={turn.cancelling ? "danger" : "plain"}
        disabled={closed !== null}
        onClick={() => void cancel()}
        title={
          turn.cancelling ? "The agent has not responded to the cancel request" : "Ask the agent to stop this turn"
        }
      >
        <Square size={12} aria-hidden className="fill-current" />
        <span className="sr-only sm:not-sr-only">{turn.cancelling ? "Cancelling …" : "Cancel turn"}</span>
      </Button>
      <ForceEnd open={asking} onClose={() => setAsking(false)} />
    </>
  );
}

function ForceEnd({ open, onClose }: { open: boolean; onClose: () => void }) {
  const { session } = useChat();
  const may = useMay("all");
  const { run } = useAction();
  const end = async (): Promise<void> => {
    onClose();
    await run(() => call("endTurn", { params: { id: session }, body: {} }));
  };
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Force-end the turn?"
      description="Closes the turn here, so that the next prompt can be sent. The agent keeps running: its output is still shown, and it may still change files. If it hangs, stop the session instead."
      actions={
        <>
          <Button onClick={onClose}>Keep waiting</Button>
          <Button variant="danger" disabled={!may} onClick={() => void end()}>
            Force end turn
          </Button>
        </>
      }
    />
  );
}
