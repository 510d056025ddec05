import { useState } from "react";
import type { TranscriptItem } from "../../contract/transcript.ts";
import { safeText } from "./inert.ts";
import { turnEndText } from "../../model/transcript/item-text.ts";

/** Tells those who listen instead of look: that a turn ended, and that something is asked. Not each word. */
export function Announcer({ items }: { items: readonly TranscriptItem[] }) {
  // What was there when the view was opened is read, not announced.
  const [told, setTold] = useState({ items, words: "" });
  if (told.items !== items) setTold({ items, words: newsSince(told.items.at(-1)?.seq ?? null, items) ?? told.words });
  return (
    <p role="status" aria-live="polite" className="sr-only">
      {told.words}
    </p>
  );
}

function newsSince(seq: number | null, items: readonly TranscriptItem[]): string | null {
  if (seq === null) return null;
  for (let index = items.length - 1; index >= 0; index -= 1) {
    const item = items[index];
    if (item === undefined || item.seq <= seq) return null;
    const news = newsOf(item);
    if (news !== null) return news;
  }
  return null;
}

function newsOf(item: TranscriptItem): string | null {
  if (item.item === "permission") return item.open ? `The agent asks for permission: ${safeText(item.title)}` : null;
  if (item.item === "turn-end") return turnEndText(item) ?? "The agent has finished its turn.";
  return item.item === "reset" ? "The conversation's context was reset." : null;
}
