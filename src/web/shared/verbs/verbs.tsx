/**
 * How a view offers verbs: `<VerbMenu session>` on a card or header, `startVerb` for anything else (keys, palette). The
 * dialog is mounted once, in the frame: a card that moves to another column must not close it. Dialog and menu are loaded
 * on first use: `bench/web.ts` limits the initial code.
 */
import { lazy, Suspense, useState } from "react";
import { EllipsisVertical } from "lucide-react";
import { createStore, useStore } from "zustand";
import type { SessionJson } from "../../../contract/session.ts";
import { useMay } from "../data/live.ts";
import { IconButton, type ButtonProps } from "../ui/button.tsx";
import type { VerbName } from "../../../model/verbs.ts";

export interface PendingVerb {
  verb: VerbName;
  session: SessionJson;
}

const pending = createStore<{ now: PendingVerb | null }>(() => ({ now: null }));

const loadMenu = () => import("./verb-menu.tsx");
const loadDialog = () => import("./verb-dialog.tsx");
const LoadedMenu = lazy(loadMenu);
const VerbDialog = lazy(loadDialog);

/** Opens the verb's dialog, which runs it once confirmed; an immediate verb runs at once. */
export function startVerb(verb: VerbName, session: SessionJson): void {
  const open = (): void => pending.setState({ now: { verb, session } });
  void loadDialog().then(({ runImmediate }) => runImmediate({ verb, session }) || open(), open);
}

/** Mounted once per page. */
export function VerbHost() {
  const now = useStore(pending, (state) => state.now);
  if (now === null) return null;
  return (
    <Suspense>
      <VerbDialog
        key={`${now.verb} ${now.session.id}`}
        pending={now}
        onClose={() => pending.setState((state) => (state.now === now ? { now: null } : state))}
      />
    </Suspense>
  );
}

export function VerbMenu({ session }: { session: SessionJson }) {
  const [opened, setOpened] = useState(false);
  const may = useMay("all");
  if (!may) return null;
  const preload = (): void => void Promise.all([loadMenu(), loadDialog()]);
  const button = (
    <VerbButton session={session} onPointerEnter={preload} onFocus={preload} onClick={() => setOpened(true)} />
  );
  if (!opened) return button;
  return (
    <Suspense fallback={button}>
      <LoadedMenu session={session} onVerb={(verb) => startVerb(verb, session)} />
    </Suspense>
  );
}

export function VerbButton({ session, ...rest }: { session: SessionJson } & ButtonProps) {
  return <IconButton label={`Actions for ${session.id}`} Sign={EllipsisVertical} aria-haspopup="menu" {...rest} />;
}
