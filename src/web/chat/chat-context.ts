import { createContext, use } from "react";

/** What rows deep in the list need; it changes so rarely that no row is drawn again for it. */
export interface ChatContext {
  session: string;
  /** Why nothing can be sent or answered; null when it can. */
  closed: string | null;
  workspacePath: string;
}

export const ChatContext = createContext<ChatContext>({ session: "", closed: null, workspacePath: "" });

export function useChat(): ChatContext {
  return use(ChatContext);
}
