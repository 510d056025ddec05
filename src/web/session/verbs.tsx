/**
 * How a view offers verbs: `<VerbMenu session>` for a card or a header, `startVerb` for anything else (keys, palette).
 * The dialog stands once, in the frame: a card that moves to another column must not take it along. It and the menu are
 * loaded at the first use.
 */
import { lazy, Suspense, useState } from "react";
import { EllipsisVertical } from "lucide-react";
import { createStore, useStore } from "zustand";
import type { SessionJson } from "../../contract/wire.ts";
import { useMay } from "../state/live.ts";
import { Button, type ButtonProps } from "../ui/button.tsx";
import type { VerbName } from "../../model/verbs.ts";

export interface AskedVerb {
  verb: VerbName;
  session: SessionJson;
}

const asked = createStore<{ now: AskedVerb | null }>(() => ({ now: null }));

const loadMenu = () => import("./verb-menu.tsx");
const loadDialog = () => import("./verb-dialog.tsx");
const LoadedMenu = lazy(loadMenu);
const VerbDialog = lazy(loadDialog);

/** Says what the verb does, and does it when the person agrees. */
export function startVerb(verb: VerbName, session: SessionJson): void {
  asked.setState({ now: { verb, session } });
}

/** Stands once in the page. */
export function VerbHost() {
  const now = useStore(asked, (state) => state.now);
  if (now === null) return null;
  return (
    <Suspense>
      <VerbDialog
        key={`${now.verb} ${now.session.id}`}
        asked={now}
        onClose={() => asked.setState((state) => (state.now === now ? { now: null } : state))}
      />
    </Suspense>
  );
}

export function VerbMenu({ session }: { session: SessionJson }) {
  const [opened, setOpened] = useState(false);
  const may = useMay("all");
  if (!may) return null;
  const warm = (): void => void Promise.all([loadMenu(), loadDialog()]);
  const button = <VerbButton session={session} onPointerEnter={warm} onFocus={warm} onClick={() => setOpened(true)} />;
  if (!opened) return button;
  return (
    <Suspense fallback={button}>
      <LoadedMenu session={session} onVerb={(verb) => startVerb(verb, session)} />
    </Suspense>
  );
}

export function VerbButton({ session, ...rest }: { session: SessionJson } & ButtonProps) {
  const label = `What to do with ${session.id}`;
  return (
    <Button variant="quiet" size="icon" aria-label={label} title={label} aria-haspopup="menu" {...rest}>
      <EllipsisVertical size={16} aria-hidden />
    </Button>
  );
}
