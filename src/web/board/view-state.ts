/** What is typed into the board's search; not kept beyond the page. */
import { createStore, useStore } from "zustand";

export const boardView = createStore<{ query: string }>(() => ({ query: "" }));

export function useQuery(): string {
  return useStore(boardView, (state) => state.query);
}

export const searchInputId = "board-search";
