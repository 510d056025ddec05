/**
 * The visible rows, and some around them. Follows the end while the agent writes, unless the user has scrolled up; older
 * items are loaded before the user reaches them, without moving the visible ones.
 */
import {
  useEffect,
  useEffectEvent,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
  type ReactNode,
  type Ref,
} from "react";
import { ArrowDown } from "lucide-react";
import { Virtualizer, type VirtualizerHandle } from "virtua";
import { Button } from "../shared/ui/button.tsx";
import { Spinner } from "../shared/ui/loading.tsx";
import { Row } from "./items/row.tsx";
import type { TranscriptFeed, FeedState } from "./transcript-feed.ts";

/** This close counts as at the end: a half-visible last line should not stop following. */
const nearEndPx = 48;
/** Older items are loaded when less than this is left above. */
const loadAheadPx = 1_500;

/** Scrolling within this time after input counts as manual: a flick on a phone keeps gliding. */
const byHandMs = 1_500;

export interface ListHandle {
  showSeq(seq: number): void;
  toEnd(): void;
  /** The scrolling element. */
  element(): HTMLElement | null;
}

export interface TranscriptListProps {
  feed: TranscriptFeed;
  state: FeedState;
  /** The first item that arrived while the user was away. */
  away: number | null;
  /** The item of the current search match. */
  revealed: number | null;
  /** Below the last item. */
  footer: ReactNode;
  onAtEnd: (atEnd: boolean) => void;
  ref: Ref<ListHandle>;
}

export function TranscriptList({ feed, state, away, revealed, footer, onAtEnd, ref }: TranscriptListProps) {
  const { items, older, loadingOlder, shifted, head } = state;
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const list = useRef<VirtualizerHandle>(null);
  const following = useRef(true);
  const lastTop = useRef(0);
  const touchedAt = useRef(-Infinity);
  /** The last item when the user left the end; null while at the end. */
  const [leftAt, setLeftAt] = useState<number | null>(null);

  const follow = (): void => {
    const element = scroller.current;
    if (element !== null && following.current) element.scrollTop = element.scrollHeight;
  };

  const toEnd = (): void => {
    following.current = true;
    // Recent input no longer counts: rows that are measured now must not look like scrolling up.
    touchedAt.current = -Infinity;
    setLeftAt(null);
    onAtEnd(true);
    // Not with the list's `scrollToIndex`: it takes a moment, and leaves the footer hidden.
    follow();
  };

  useImperativeHandle(ref, () => ({
    showSeq: (seq) => {
      const index = feed.state().items.findIndex((item) => item.seq === seq);
      if (index < 0) return;
      following.current = false;
      setLeftAt((before) => before ?? feed.state().items.at(-1)?.seq ?? 0);
      list.current?.scrollToIndex(index, { align: "center" });
    },
    toEnd,
    element: () => scroller.current,
  }));

  const touched = (): void => {
    touchedAt.current = performance.now();
  };

  const onScroll = (): void => {
    const element = scroller.current;
    if (element === null) return;
    const { scrollTop, scrollHeight, clientHeight } = element;
    const atEnd = scrollHeight - scrollTop - clientHeight < nearEndPx;
    // Rows that are measured also scroll: only user input counts.
    const byHand = performance.now() - touchedAt.current < byHandMs;
    if (atEnd) following.current = true;
    else if (byHand && scrollTop < lastTop.current) following.current = false;
    lastTop.current = scrollTop;
    if (!atEnd || !byHand) follow();
    if (following.current !== (leftAt === null)) {
      setLeftAt(following.current ? null : (items.at(-1)?.seq ?? 0));
      onAtEnd(following.current);
    }
    if (older && scrollTop < loadAheadPx && !following.current) void feed.loadOlder();
  };

  const onResize = useEffectEvent(() => {
    follow();
    const element = scroller.current;
    // If the newest page does not fill the screen, it cannot be scrolled: load more until it can.
    if (element !== null && older && element.scrollHeight <= element.clientHeight + 1) void feed.loadOlder();
  });
  // Rows change their height when they are rendered and while they stream.
  useEffect(() => {
    const [inner, outer] = [content.current, scroller.current];
    if (inner === null || outer === null) return undefined;
    const observer = new ResizeObserver(() => onResize());
    observer.observe(inner);
    observer.observe(outer);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(follow);

  const turnOpen = head.turn?.open === true;
  const lastSeq = items.at(-1)?.seq;
  const fresh = leftAt === null ? 0 : items.length - 1 - items.findLastIndex(({ seq }) => seq <= leftAt);
  return (
    <div className="relative flex min-h-0 flex-1 flex-col">
      <div
        ref={scroller}
        onScroll={onScroll}
        onWheel={touched}
        onTouchMove={touched}
        onKeyDown={touched}
        onPointerDown={touched}
        onPointerMove={(event) => event.buttons !== 0 && touched()}
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label="Transcript"
        className="min-h-0 flex-1 overflow-x-hidden overflow-y-auto overscroll-contain [overflow-anchor:none]"
      >
        <div ref={content} className="pb-4">
          {loadingOlder && (
            <div className="pointer-events-none absolute inset-x-0 top-0 z-10 flex justify-center">
              <Spinner label="Loading older messages" />
            </div>
          )}
          <Virtualizer ref={list} scrollRef={scroller} data={items} shift={shifted} bufferSize={600}>
            {(item) => (
              <Row
                key={item.key}
                item={item}
                streaming={turnOpen && item.seq === lastSeq}
                revealed={item.seq === revealed}
                awayBefore={item.seq === away}
              />
            )}
          </Virtualizer>
          <div className="mx-auto w-full max-w-[64rem] px-3 sm:px-6">{footer}</div>
        </div>
      </div>
      {leftAt !== null && (
        <div className="pointer-events-none absolute inset-x-0 bottom-3 flex justify-center">
          <Button variant="primary" className="pointer-events-auto rounded-full shadow-lg" onClick={toEnd}>
            <ArrowDown size={14} aria-hidden />
            Jump to latest{fresh > 0 ? ` (${fresh} new)` : ""}
          </Button>
        </div>
      )}
    </div>
  );
}
