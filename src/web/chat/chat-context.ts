import { createContext, use } from "react";
import type { Folds } from "./use-disclosure.ts";

/** What rows deep in the list need; it changes so rarely that no row is drawn again for it. */
export interface ChatContext {
  session: string;
  /** Why nothing can be sent or answered; null when it can. */
  closed: string | null;
  workspacePath: string;
  folds: Folds;
}

export const ChatContext = createContext<ChatContext>({
  session: "",
  closed: null,
  workspacePath: "",
  folds: new Map(),
});

export function useChat(): ChatContext {
  return use(ChatContext);
}
