/** Unsent text by session. It survives a reload, and other views may add to it. */
import { createStore, useStore } from "zustand";
import { live } from "../shared/data/live.ts";
import { draftKey } from "../shared/data/session-cache.ts";
import { storeOrWarn } from "../shared/data/storage.ts";

/** Saved when typing pauses. */
const saveMs = 250;
/** The drafts changed on this page. */
const drafts = createStore<Record<string, string>>(() => ({}));
const unsaved = new Set<string>();
let timer: ReturnType<typeof setTimeout> | undefined;

function draftOf(id: string, changed = drafts.getState()): string {
  return changed[id] ?? localStorage.getItem(draftKey(id)) ?? "";
}

export function useDraft(id: string): string {
  return useStore(drafts, (changed) => draftOf(id, changed));
}

export function setDraft(id: string, text: string): void {
  drafts.setState({ [id]: text });
  unsaved.add(id);
  timer ??= setTimeout(save, saveMs);
}

/** Inserts text before the existing draft. */
export function addToDraft(id: string, text: string): void {
  const typed = draftOf(id).trim();
  setDraft(id, typed === "" ? text : `${text.trimEnd()}\n\n${typed}`);
}

function save(): void {
  clearTimeout(timer);
  timer = undefined;
  // A session that was deleted while it was open leaves nothing behind.
  for (const id of unsaved) if (!live.getState().deleted.has(id)) storeOrWarn(draftKey(id), draftOf(id) || null);
  unsaved.clear();
}

addEventListener("pagehide", save);
