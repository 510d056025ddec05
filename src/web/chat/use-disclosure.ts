/**
 * Whether something folded is open. What a person chose stays while the row is scrolled out of sight, and gives way when
 * the row itself changes its mind: a tool that fails, a match of the search.
 */
import { useState, type MouseEvent } from "react";
import { useChat } from "./chat-context.ts";

interface Chosen {
  open: boolean;
  /** What the row would have been by itself. */
  insteadOf: boolean;
}

/** By the name of the fold, for as long as the view is open. */
export type Folds = Map<string, Chosen>;

export interface Fold {
  isOpen: boolean;
  /** For the summary: its element would else open by itself, beside what is kept here. */
  onClick: (event: MouseEvent) => void;
}

export function useFold(name: string, byItself: boolean): Fold {
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
