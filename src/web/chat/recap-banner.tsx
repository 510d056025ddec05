/** After a context reset: offers a recap for the composer. Never sent automatically. */
import { RotateCcw } from "lucide-react";
import { call } from "../shared/data/api.ts";
import { Button } from "../shared/ui/button.tsx";
import { useAction } from "../shared/ui/toast.tsx";
import { useChat } from "./chat-context.ts";
import { addToDraft } from "./draft.ts";

export function RecapBanner({ resetSeq, onFilled }: { resetSeq: number; onFilled: () => void }) {
  const { session, closed } = useChat();
  const { busy, run } = useAction();
  const fill = () =>
    run(async () => {
      const { markdown } = await call("primer", { params: { id: session }, query: { before_seq: resetSeq } });
      addToDraft(session, markdown);
      onFilled();
    });
  const dismiss = () => run(() => call("primerDismiss", { params: { id: session }, body: {} }));
  return (
    <section
      aria-label="Resume with prior context"
      className="mb-2 flex flex-wrap items-center gap-2 rounded-lg border border-alert/40 bg-alert-soft px-3 py-2"
    >
      <RotateCcw size={16} aria-hidden className="shrink-0 text-alert" />
      <p className="min-w-48 flex-1">
        The agent lost its conversation context. You can add a recap of recent turns to your next prompt.
      </p>
      <Button size="small" variant="primary" disabled={busy || closed !== null} onClick={() => void fill()}>
        Resume with prior context
      </Button>
      <Button size="small" variant="quiet" disabled={busy || closed !== null} onClick={() => void dismiss()}>
        Dismiss
      </Button>
    </section>
  );
}
