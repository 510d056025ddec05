import { createContext, use, useState, type MouseEvent } from "react";

/** What rows deep in the list need; it changes so rarely that no row is drawn again for it. */
export interface ChatContext {
  session: string;
  /** Why nothing can be sent or answered; null when it can. */
  closed: string | null;
  workspacePath: string;
  folds: Disclosures;
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

interface Chosen {
  open: boolean;
  /** What the row would have been by itself. */
  insteadOf: boolean;
}

/** By the name of the fold, for as long as the view is open. */
export type Disclosures = Map<string, Chosen>;

interface Fold {
  isOpen: boolean;
  /** For the summary: its element would else open by itself, beside what is kept here. */
  onClick: (event: MouseEvent) => void;
}

export function useDisclosure(name: string, byItself: boolean): Fold {
  const { folds } = useChat();
  const [chosen, setChosen] = useState(() => folds.get(name));
  const isOpen = chosen?.insteadOf === byItself ? chosen.open : byItself;
  return {
    isOpen,
    onClick: (event) => {
      event.preventDefault();
      const next = { open: !isOpen, insteadOf: byItself };
      folds.set(name, next);
      setChosen(next);
    },
  };
}
