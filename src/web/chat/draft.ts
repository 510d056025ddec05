/** Unsent text by session. It survives a reload, and other views may add to it. */
import { useSyncExternalStore } from "react";
import { draftKey, reportFull } from "../shared/data/session-cache.ts";

/** Saved when typing pauses. */
const writeMs = 250;
const drafts = new Map<string, string>();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setTimeout> | undefined;
const unwritten = new Set<string>();

export function draftOf(id: string): string {
  let text = drafts.get(id);
  if (text === undefined) {
    text = localStorage.getItem(draftKey(id)) ?? "";
    drafts.set(id, text);
  }
  return text;
}

export function setDraft(id: string, text: string): void {
  drafts.set(id, text);
  unwritten.add(id);
  timer ??= setTimeout(write, writeMs);
  for (const listener of listeners) listener();
}

/** Inserts text before the existing draft. */
export function addToDraft(id: string, text: string): void {
  const typed = draftOf(id).trim();
  setDraft(id, typed === "" ? text : `${text.trimEnd()}\n\n${typed}`);
}

/** For a deleted session. */
export function dropDraft(id: string): void {
  drafts.delete(id);
  unwritten.delete(id);
}

export function useDraft(id: string): string {
  return useSyncExternalStore(subscribe, () => draftOf(id));
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function write(): void {
  clearTimeout(timer);
  timer = undefined;
  for (const id of unwritten) {
    const text = drafts.get(id) ?? "";
    try {
      if (text === "") localStorage.removeItem(draftKey(id));
      else localStorage.setItem(draftKey(id), text);
    } catch {
      // It lasts until the page is closed.
      reportFull();
    }
  }
  unwritten.clear();
}

addEventListener("pagehide", write);
