/** Whether this browser refused to keep something. What the daemon has is never lost by it; what was typed could be. */
import { createStore } from "zustand";

export const storage = createStore<{ full: boolean; hidden: boolean }>(() => ({ full: false, hidden: false }));

export function noRoom(): void {
  if (!storage.getState().full) storage.setState({ full: true });
}
