/** Cancels a turn; if the agent does not respond, the user can force-end it. */
import { useState } from "react";
import { Square } from "lucide-react";
import type { TranscriptTurn } from "../../contract/transcript.ts";
import { call } from "../shared/data/api.ts";
import { useMay } from "../shared/data/live.ts";
import { Button } from "../shared/ui/button.tsx";
import { Dialog } from "../shared/ui/dialog.tsx";
import { showToast, useAction } from "../shared/ui/toast.tsx";
import { useChat } from "./chat-context.ts";

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

export function ForceEnd({ open, onClose }: { open: boolean; onClose: () => void }) {
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
