/** The browser's storage. It may be full or forbidden; what it refuses lasts until the page is closed. */
import { createStore } from "zustand";

/** Whether the browser refused to store something. Sent data is never lost by it; unsent text could be. */
export const storage = createStore<{ full: boolean; hidden: boolean }>(() => ({ full: false, hidden: false }));

/** The parsed value; null if there is none or it is damaged. */
export function readJson(key: string, area = localStorage): unknown {
  try {
    return JSON.parse(area.getItem(key) ?? "null");
  } catch {
    return null;
  }
}

/** Null removes it. Returns whether it was stored. */
export function store(key: string, text: string | null, area = localStorage): boolean {
  try {
    if (text === null) area.removeItem(key);
    else area.setItem(key, text);
    return true;
  } catch {
    return false;
  }
}

/** Like `store`, for text that exists nowhere else: warns the user if it was not stored. */
export function storeOrWarn(key: string, text: string | null): void {
  if (!store(key, text)) storage.setState({ full: true });
}
