import { useSyncExternalStore } from "react";

/** Below this two columns of code are too narrow to read. */
const narrow = "(max-width: 900px)";

export function useNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => matchMedia(narrow).matches);
}

function subscribe(listener: () => void): () => void {
  const query = matchMedia(narrow);
  query.addEventListener("change", listener);
  return () => query.removeEventListener("change", listener);
}
