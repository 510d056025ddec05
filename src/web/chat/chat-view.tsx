/** A chat session: the transcript, the queued prompts, and the composer. */
import { useEffect, useEffectEvent, useMemo, useRef, useState, type ReactNode } from "react";
import { Download, Search } from "lucide-react";
import type { SessionJson } from "../../contract/session.ts";
import type { TranscriptHead } from "../../contract/transcript.ts";
import { useLive, useMay } from "../shared/data/live.ts";
import { useQuery } from "../shared/data/use-query.ts";
import { IconButton } from "../shared/ui/button.tsx";
import { Spinner } from "../shared/ui/loading.tsx";
import { useAction } from "../shared/ui/toast.tsx";
import { Announcer, CatchingUp, RecapBanner, TranscriptError } from "./chat-banners.tsx";
import { ChatContext, type Disclosures } from "./chat-context.ts";
import { ChatFooter, TurnControl } from "./chat-footer.tsx";
import { closedReason, placeholderText, queueHint, splitQueue } from "./composer-hints.ts";
import { Composer, type ComposerHandle } from "./composer.tsx";
import { addToDraft } from "./draft.ts";
import type { NewImage } from "./images.tsx";
import { markdownOf } from "./item-text.ts";
import { PickerBar } from "./picker-bar.tsx";
import { PlanStrip } from "./plan-strip.tsx";
import { QueueList } from "./queue-list.tsx";
import { SearchBar } from "./search-bar.tsx";
import type { TranscriptFeed } from "./transcript-feed.ts";
import { TranscriptList, type ListHandle } from "./transcript-list.tsx";
import { useUnsentPrompts, type UnsentPrompt } from "./unsent-prompts.ts";
import { useAway } from "./use-away.ts";
import { useTranscript } from "./use-transcript.ts";

/** Mounted again for each session: the session page keys its views by id. */
export default function ChatView({ session }: { session: SessionJson }) {
  const { id, status, workspacePath } = session;
  const { feed, state } = useTranscript(id);
  const { items, head } = state;
  const { prompts, unsent } = useUnsentPrompts(id, state);
  const closed = closedReason(session, useReadOnly(), useMay("answer"));
  const { run } = useAction();
  const list = useRef<ListHandle>(null);
  const composer = useRef<ComposerHandle>(null);
  const [searching, setSearching] = useState(false);
  const [revealed, setRevealed] = useState<number | null>(null);
  const { away, onAtEnd } = useAway(id, state);
  const [disclosures] = useState<Disclosures>(() => new Map());
  const context = useMemo(
    () => ({ session: id, closed, workspacePath, disclosures }),
    [id, closed, workspacePath, disclosures],
  );
  const { next, queue } = useMemo(
    () => splitQueue({ queue: head.queue, turn: head.turn }, { status }),
    [head.queue, head.turn, status],
  );
  useSearchKey(() => setSearching(true));
  const closeSearch = (): void => {
    setSearching(false);
    setRevealed(null);
    composer.current?.focus();
  };
  // Stable, so that a streamed word renders only the last row of the list.
  const actions = useMemo(
    () => ({
      history: (): string[] => historyOf(feed),
      send: (text: string, images: NewImage[]): void => {
        prompts.send(text, images);
        list.current?.toEnd();
      },
      takeBack: (entry: UnsentPrompt): void => {
        prompts.remove(entry.promptId);
        addToDraft(id, entry.text);
        composer.current?.focus();
      },
      discard: (entry: UnsentPrompt): void => prompts.remove(entry.promptId),
    }),
    [id, feed, prompts],
  );
  return (
    <ChatContext value={context}>
      <div className="relative min-h-64 flex-1">
        <div className="absolute inset-0 flex flex-col">
          <div className="flex items-start gap-1 border-b border-line bg-panel px-3 py-0.5 sm:px-4">
            {head.plan !== null && head.plan.length > 0 ? <PlanStrip plan={head.plan} /> : <span className="flex-1" />}
            <IconButton
              label="Search in transcript"
              Sign={Search}
              aria-expanded={searching}
              onClick={() => setSearching(true)}
            />
            <IconButton
              label="Export as Markdown"
              Sign={Download}
              onClick={() => void run(() => exportTranscript(session, feed))}
            />
          </div>
          {searching && (
            <SearchBar feed={feed} state={state} list={list} onReveal={setRevealed} onClose={closeSearch} />
          )}
          <CatchingUp id={id} feed={feed} />
          {state.fault !== null && <TranscriptError error={state.fault} onRetry={() => feed.retry()} />}
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
                  starting={status === "starting"}
                  hasRequest={session.permissions.length > 0}
                  turn={head.turn}
                  isEmpty={
                    head.queue.length === 0 &&
                    items.length < 5 &&
                    !items.some(({ item }) => item === "prompt" || item === "text")
                  }
                  next={next}
                  unsent={unsent}
                  onTakeBack={actions.takeBack}
                  onDiscard={actions.discard}
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
              history={actions.history}
              commands={head.commands}
              placeholder={placeholderText(session)}
              onSend={actions.send}
              controls={useControls(head)}
            />
          </div>
          <Announcer items={items} />
        </div>
      </div>
    </ChatContext>
  );
}

/** The controls beside the send button; the same element until one of them changes. */
function useControls({ modes, models, configOptions, usage, turn }: TranscriptHead): ReactNode {
  return useMemo(
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
}

async function exportTranscript({ id, title }: SessionJson, feed: TranscriptFeed): Promise<void> {
  await feed.loadAll();
  const { items, older, fault } = feed.state();
  if (older) throw fault ?? new Error("Could not load the complete transcript. Try again.");
  const url = URL.createObjectURL(new Blob([markdownOf(title, items)], { type: "text/markdown" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `${id}.md`;
  link.click();
  // By then the browser has started the download.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Earlier prompts, newest first. */
function historyOf(feed: TranscriptFeed): string[] {
  const { items, head } = feed.state();
  const sent = items.flatMap((item) => (item.item === "prompt" && item.cut !== true ? [item.text] : []));
  return [...new Set([...sent, ...head.queue.map(({ text }) => text)].toReversed())];
}

/** Whether the daemon is read-only. Checked after each reconnect; on an error, the daemon refuses changes on its own. */
function useReadOnly(): boolean {
  const connected = useLive((state) => state.connected);
  const [settings] = useQuery(connected ? "settings" : null);
  return settings.is === "known" && settings.value.readOnly;
}

/** The browser's own search sees only the rendered rows. */
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
