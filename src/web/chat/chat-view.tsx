/** A chat session: what was said, what waits, and what is said next. */
import { memo, useEffect, useEffectEvent, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { Download, Search } from "lucide-react";
import type { SessionJson } from "../../contract/wire.ts";
import { live, useMay } from "../shared/data/live.ts";
import { sentenceOf } from "../shared/data/api.ts";
import { Button, IconButton } from "../shared/ui/button.tsx";
import { Spinner } from "../shared/ui/loading.tsx";
import { showToast } from "../shared/ui/toast.tsx";
import { Announcer, CatchingUp } from "./chat-banners.tsx";
import { ChatContext, type Disclosures } from "./chat-context.ts";
import { ChatFooter } from "./chat-footer.tsx";
import { Composer, type ComposerHandle } from "./composer.tsx";
import { addToDraft, dropDraft } from "./draft.ts";
import { exportTranscript } from "./export.ts";
import type { NewImage } from "./images.tsx";
import { UnsentPrompts, type UnsentPrompt } from "./unsent-prompts.ts";
import { PickerBar } from "./picker-bar.tsx";
import { PlanStrip } from "./plan-strip.tsx";
import { RecapBanner } from "./recap-banner.tsx";
import { QueueList } from "./queue-list.tsx";
import { SearchBar } from "./search-bar.tsx";
import { closedReason, placeholderText, queueHint, waitingOf } from "./composer-hints.ts";
import { TranscriptList, type ListHandle } from "./transcript-list.tsx";
import { TurnControl } from "./turn-control.tsx";
import { useAway } from "./use-away.ts";
import { useReadOnly } from "./use-read-only.ts";
import { useTranscript } from "./use-transcript.ts";

export default function ChatView({ session }: { session: SessionJson }) {
  return <Chat key={session.id} session={session} />;
}

/** Each event is news of the session; few of them are news for this view beyond its transcript. */
const Chat = memo(ChatOf, ({ session: a }, { session: b }) => {
  const same = a.status === b.status && a.title === b.title && a.intent.want === b.intent.want;
  return same && a.workspacePath === b.workspacePath && a.permissions.length === b.permissions.length;
});

function ChatOf({ session }: { session: SessionJson }) {
  const { id, status } = session;
  const { feed, state } = useTranscript(id);
  const { items, head } = state;
  const [outbox] = useState(() => new UnsentPrompts(id));
  const sending = useSyncExternalStore(outbox.subscribe, outbox.entries);
  const closed = closedReason(session, useReadOnly(), useMay("answer"));
  const list = useRef<ListHandle>(null);
  const composer = useRef<ComposerHandle>(null);
  const [searching, setSearching] = useState(false);
  const [revealed, setRevealed] = useState<number | null>(null);
  const { away, onAtEnd } = useAway(id, state);

  useEffect(() => outbox.open(), [outbox]);
  useEffect(() => () => void (live.getState().deleted.has(id) && dropDraft(id)), [id]);
  // Those that came among the items are near the end: prompts do not come late.
  useEffect(() => {
    if (sending.length === 0) return;
    const known = new Set(head.queue.map(({ promptId }) => promptId as string));
    for (const item of items.slice(-200)) if (item.item === "prompt") known.add(item.promptId);
    outbox.settle((promptId) => known.has(promptId));
  }, [outbox, sending, head.queue, items]);

  const closeSearch = (): void => {
    setSearching(false);
    setRevealed(null);
    composer.current?.focus();
  };
  useSearchKey(() => setSearching(true));

  const { waiting, queue } = useMemo(
    () => waitingOf({ queue: head.queue, turn: head.turn }, { status }),
    [head.queue, head.turn, status],
  );
  const [folds] = useState<Disclosures>(() => new Map());
  const context = useMemo(
    () => ({ session: id, closed, workspacePath: session.workspacePath, folds }),
    [id, closed, session.workspacePath, folds],
  );
  // Made once: a streamed word draws the list's last row again, and nothing else.
  const acts = useMemo(
    () => ({
      history: (): string[] => {
        const { items: all, head: now } = feed.state();
        const said = all.flatMap((item) => (item.item === "prompt" && item.cut !== true ? [item.text] : []));
        return [...new Set([...said, ...now.queue.map(({ text }) => text)].toReversed())];
      },
      send: (text: string, images: NewImage[]): void => {
        outbox.send(text, images);
        list.current?.toEnd();
      },
      takeBack: (entry: UnsentPrompt): void => {
        outbox.remove(entry.promptId);
        addToDraft(id, entry.text);
        composer.current?.focus();
      },
      drop: (entry: UnsentPrompt): void => outbox.remove(entry.promptId),
    }),
    [id, feed, outbox],
  );
  const { modes, models, configOptions, usage, turn } = head;
  const controls = useMemo(
    () => (
      <>
        <PickerBar modes={modes} models={models} configOptions={configOptions} usage={usage} />
        {turn?.open === true && (
          <span className="ml-auto">
            <TurnControl turn={turn} />
          </span>
        )}
      </>
    ),
    [modes, models, configOptions, usage, turn],
  );
  const download = async (): Promise<void> => {
    try {
      await exportTranscript(session, feed);
    } catch (error) {
      showToast(sentenceOf(error), "fault");
    }
  };
  return (
    <ChatContext value={context}>
      <div className="relative min-h-64 flex-1">
        <div className="absolute inset-0 flex flex-col">
          <div className="flex items-start gap-1 border-b border-line bg-panel px-3 py-0.5 sm:px-4">
            {head.plan !== null && head.plan.length > 0 ? <PlanStrip plan={head.plan} /> : <span className="flex-1" />}
            <IconButton label="Search in transcript" aria-expanded={searching} onClick={() => setSearching(true)}>
              <Search size={16} aria-hidden />
            </IconButton>
            <IconButton label="Export as markdown" onClick={() => void download()}>
              <Download size={16} aria-hidden />
            </IconButton>
          </div>
          {searching && (
            <SearchBar feed={feed} state={state} list={list} onReveal={setRevealed} onClose={closeSearch} />
          )}
          <CatchingUp id={id} feed={feed} />
          {state.fault !== null && <Fault fault={state.fault} onRetry={() => feed.retry()} />}
          {state.phase === "loading" ? (
            <div className="flex flex-1 items-center justify-center">{state.fault === null && <Spinner />}</div>
          ) : (
            <TranscriptList
              ref={list}
              feed={feed}
              state={state}
              away={away}
              revealed={revealed}
              onAtEnd={onAtEnd}
              footer={
                <ChatFooter
                  starting={session.status === "starting"}
                  asked={session.permissions.length > 0}
                  turn={turn}
                  isEmpty={
                    head.queue.length === 0 &&
                    items.length < 5 &&
                    !items.some(({ item }) => item === "prompt" || item === "text")
                  }
                  waiting={waiting}
                  sending={sending}
                  onTakeBack={acts.takeBack}
                  onDrop={acts.drop}
                />
              }
            />
          )}
          <div className="mx-auto w-full max-w-[64rem] px-2 pt-2 pb-[max(0.5rem,env(safe-area-inset-bottom))] sm:px-6">
            {!head.primerUsed && head.lastReset !== null && (
              <RecapBanner resetSeq={head.lastReset.seq} onFilled={() => composer.current?.focus()} />
            )}
            <QueueList queue={queue} why={queueHint(session, head)} />
            <Composer
              ref={composer}
              history={acts.history}
              commands={head.commands}
              placeholder={placeholderText(session)}
              onSend={acts.send}
              controls={controls}
            />
          </div>
          <Announcer items={items} />
        </div>
      </div>
    </ChatContext>
  );
}

function Fault({ fault, onRetry }: { fault: unknown; onRetry: () => void }) {
  return (
    <div role="alert" className="flex items-center gap-3 bg-danger-soft px-4 py-2 text-danger">
      <span className="flex-1">The transcript could not be read: {sentenceOf(fault)}</span>
      <Button size="small" onClick={onRetry}>
        Try again
      </Button>
    </div>
  );
}

/** The browser's own search sees only the rows that are drawn. */
function useSearchKey(open: () => void): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (event.key !== "f" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
    event.preventDefault();
    open();
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent): void => onKey(event);
    addEventListener("keydown", listener);
    return () => removeEventListener("keydown", listener);
  }, []);
}
