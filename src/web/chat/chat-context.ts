/** Context of rows deep in the transcript, and which of them are expanded. */
import { createContext, use, useState, type MouseEvent } from "react";

/** Changes so rarely that it causes no extra rendering. */
export interface ChatContext {
  session: string;
  /** Why nothing can be sent or answered; null if it can. */
  closed: string | null;
  workspacePath: string;
  disclosures: Disclosures;
}

export const ChatContext = createContext<ChatContext>({
  session: "",
  closed: null,
  workspacePath: "",
  disclosures: new Map(),
});

export function useChat(): ChatContext {
  return use(ChatContext);
}

interface Choice {
  open: boolean;
  /** The default that the user changed. */
  insteadOf: boolean;
}

/** The user's choices by disclosure name, while the view is open. */
export type Disclosures = Map<string, Choice>;

/**
 * Whether a collapsible part is open. The user's choice is kept while the row is scrolled out of view, until its default
 * changes: a tool call fails, or a search matches inside.
 */
export function useDisclosure(name: string, byDefault: boolean) {
  const { disclosures } = useChat();
  const [choice, setChoice] = useState(() => disclosures.get(name));
  const isOpen = choice?.insteadOf === byDefault ? choice.open : byDefault;
  return {
    isOpen,
    /** For the `<summary>`, which would otherwise toggle on its own. */
    onClick: (event: MouseEvent): void => {
      event.preventDefault();
      const next = { open: !isOpen, insteadOf: byDefault };
      disclosures.set(name, next);
      setChoice(next);
    },
  };
}
