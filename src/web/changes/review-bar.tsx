/** The comments so far, and the button that sends them as one prompt. */
import { useRef, useState } from "react";
import { ChevronUp, Send } from "lucide-react";
import type { SessionJson } from "../../contract/session.ts";
import { call } from "../shared/data/api.ts";
import { useMay } from "../shared/data/live.ts";
import { countOf, visibleText } from "../shared/ui/safe-text.ts";
import { Button } from "../shared/ui/button.tsx";
import { clsx } from "clsx";
import { showToast, useSubmit } from "../shared/ui/toast.tsx";
import { CommentCard } from "./comment-card.tsx";
import { composePrompt, removeComments, type Comment } from "./review.ts";

function receiptText({ disposition, reason }: { disposition: string; reason: string | null }): string {
  if (disposition === "delivered") return "Sent to the agent.";
  if (disposition === "typed") return "Typed into the agent's terminal; this agent does not confirm prompts.";
  if (disposition === "unconfirmed")
    return `It may not have reached the agent: ${reason ?? "check the session's screen."}`;
  return `Queued${reason === null ? "." : `: ${reason}`}`;
}

export interface ReviewBarProps {
  session: SessionJson;
  comments: readonly Comment[];
  onPick: (comment: Comment) => void;
}

export function ReviewBar({ session, comments, onPick }: ReviewBarProps) {
  const [open, setOpen] = useState(false);
  const { busy, fault, submit } = useSubmit();
  /** A failed send is repeated with the same id: the daemon accepts it once. */
  const attempt = useRef<{ text: string; promptId: string } | null>(null);
  const may = useMay("answer");
  if (comments.length === 0) return null;
  const killed = session.intent.want === "killed";

  const send = async (): Promise<void> => {
    const text = composePrompt(comments);
    if (attempt.current?.text !== text) attempt.current = { text, promptId: crypto.randomUUID() };
    const body = { promptId: attempt.current.promptId, text };
    const receipt = await call("prompt", { params: { id: session.id }, body });
    if (receipt.disposition === "refused") throw new Error(receipt.reason ?? "the session refused it.");
    removeComments(session.id, new Set(comments.map(({ id }) => id)));
    showToast(receiptText(receipt));
  };

  return (
    <section aria-label="Comments" className="shrink-0 border-t border-line bg-raised">
      {open && (
        <ol className="max-h-[40vh] overflow-y-auto px-2 pt-2">
          {comments.map((comment) => (
            <li key={comment.id} className="pb-1">
              <button
                type="button"
                className="w-full truncate px-2 text-left font-mono text-xs text-accent underline pointer-coarse:min-h-10"
                onClick={() => onPick(comment)}
              >
                {visibleText(comment.path)}:{comment.line}
              </button>
              <p className="truncate px-2 font-mono text-xs text-dim">&gt; {comment.quote}</p>
              <CommentCard session={session.id} comment={comment} />
            </li>
          ))}
        </ol>
      )}
      {(fault !== null || killed || !may) && (
        <p role="alert" className="px-3 pt-2 text-danger">
          {fault !== null
            ? `Not sent: ${fault}`
            : may
              ? "The session was killed. Restore it to send comments."
              : "This device may only watch, not send comments."}
        </p>
      )}
      <div className="flex items-center gap-2 p-2">
        <Button variant="quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
          <ChevronUp size={14} aria-hidden className={clsx(open && "rotate-180")} />
          {countOf(comments.length, "comment")}
        </Button>
        <span className="flex-1" />
        <Button variant="primary" disabled={busy || killed || !may} onClick={() => void submit(send)}>
          <Send size={14} aria-hidden /> Send to agent
        </Button>
      </div>
    </section>
  );
}
