/** Strips around the transcript, and announcements for screen readers. */
import { useEffect, useState } from "react";
import { RotateCcw } from "lucide-react";
import { call, sentenceOf } from "../shared/data/api.ts";
import { live } from "../shared/data/live.ts";
import { Button } from "../shared/ui/button.tsx";
import { useAction } from "../shared/ui/toast.tsx";
import { useChat } from "./chat-context.ts";
import { addToDraft } from "./draft.ts";
import type { TranscriptFeed } from "./transcript-feed.ts";
import type { TranscriptItem } from "../../contract/transcript.ts";
import { safeText } from "./inert.ts";
import { turnEndText } from "../../model/transcript/item-text.ts";

/** Most gaps close sooner and are not worth showing. */
const quietMs = 800;

/** Shown if events are missing for longer than a moment. */
export function CatchingUp({ id, feed }: { id: string; feed: TranscriptFeed }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    /** The last missing event when the timer was set: a writing agent is always a little ahead. */
    let missing = 0;
    const here = (): number => feed.state().head.seq;
    const check = (): void => {
      if (feed.state().phase === "loading") return;
      if (here() >= missing) {
        clearTimeout(timer);
        timer = undefined;
        setLate(false);
      }
      const last = live.getState().sessions.get(id)?.seq ?? 0;
      if (timer !== undefined || last <= here()) return;
      missing = last;
      timer = setTimeout(() => setLate(here() < missing), quietMs);
    };
    const ends = [live.subscribe(check), feed.subscribe(check)];
    return () => {
      clearTimeout(timer);
      for (const end of ends) end();
    };
  }, [id, feed]);
  return (
    <div role="status">
      {late && (
        <div className="flex items-center gap-3 bg-busy-soft px-4 py-1.5 text-busy">
          <span className="flex-1">Some messages are missing. Loading them from the daemon.</span>
          <Button size="small" onClick={() => feed.retry()}>
            Try again
          </Button>
        </div>
      )}
    </div>
  );
}

/** Announces finished turns and permission requests to screen readers, not every word. */
export function Announcer({ items }: { items: readonly TranscriptItem[] }) {
  // Items that existed when the view opened are not announced.
  const [last, setLast] = useState({ items, text: "" });
  if (last.items !== items) setLast({ items, text: newsSince(last.items.at(-1)?.seq ?? null, items) ?? last.text });
  return (
    <p role="status" aria-live="polite" className="sr-only">
      {last.text}
    </p>
  );
}

function newsSince(seq: number | null, items: readonly TranscriptItem[]): string | null {
  if (seq === null) return null;
  const added = items.slice(items.findLastIndex((item) => item.seq <= seq) + 1);
  return added.map(newsOf).findLast((news) => news !== null) ?? null;
}

function newsOf(item: TranscriptItem): string | null {
  if (item.item === "permission") return item.open ? `The agent asks for permission: ${safeText(item.title)}` : null;
  if (item.item === "turn-end") return turnEndText(item) ?? "The agent finished its turn.";
  return item.item === "reset" ? "The conversation's context was reset." : null;
}

export function TranscriptError({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  return (
    <div role="alert" className="flex items-center gap-3 bg-danger-soft px-4 py-2 text-danger">
      <span className="flex-1">Could not load the transcript: {sentenceOf(error)}</span>
      <Button size="small" onClick={onRetry}>
        Try again
      </Button>
    </div>
  );
}

/** After a context reset: offers a recap for the composer. Never sent automatically. */
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
