/** The menu, initially open: it is loaded when its button is pressed. */
import {
  Archive,
  ArchiveRestore,
  Clock,
  Pencil,
  Pin,
  PinOff,
  Play,
  RefreshCw,
  Repeat,
  Skull,
  Square,
  Sun,
  Trash2,
} from "lucide-react";
import type { LucideIcon } from "lucide-react";
import type { SessionJson } from "../../../contract/session.ts";
import { Menu, MenuItem, MenuLine } from "../ui/menu.tsx";
import { otherKind, type VerbName, verbs, verbsFor } from "../../../model/verbs.ts";
import { VerbButton } from "./verbs.tsx";

const signs: Record<VerbName, LucideIcon> = {
  rename: Pencil,
  pin: Pin,
  unpin: PinOff,
  restore: Play,
  wake: Sun,
  unarchive: ArchiveRestore,
  restart: RefreshCw,
  convert: Repeat,
  stop: Square,
  snooze: Clock,
  archive: Archive,
  kill: Skull,
  delete: Trash2,
};

export default function LoadedMenu({ session, onVerb }: { session: SessionJson; onVerb: (verb: VerbName) => void }) {
  const names = verbsFor(session);
  const item = (name: VerbName) => {
    const Sign = signs[name];
    return (
      <MenuItem key={name} danger={verbs[name].movesWork} onSelect={() => onVerb(name)}>
        <Sign size={14} aria-hidden />{" "}
        {name === "convert" ? `Convert to ${otherKind(session.kind)}` : verbs[name].label}
      </MenuItem>
    );
  };
  return (
    <Menu defaultOpen button={<VerbButton session={session} />}>
      {names.filter((name) => !verbs[name].movesWork).map(item)}
      <MenuLine />
      {names.filter((name) => verbs[name].movesWork).map(item)}
    </Menu>
  );
}
