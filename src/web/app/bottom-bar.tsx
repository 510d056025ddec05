/** The main ways, where a thumb reaches them. Phones only. */
import { Columns3, Plus, Search, Settings } from "lucide-react";
import { Link, useLocation } from "wouter";
import { useLive, useMay } from "../state/live.ts";
import { columnOf } from "../../model/board.ts";
import { classes } from "../ui/classes.ts";
import { searchFrom } from "./shortcuts.ts";

const itemLook = "relative flex h-14 flex-1 flex-col items-center justify-center gap-0.5 text-xs";

export function BottomBar() {
  const [location, navigate] = useLocation();
  const waiting = useLive((state) => count(state.sessions.values()));
  const may = useMay("all");
  const look = (path: string): string => classes(itemLook, location === path ? "font-medium text-accent" : "text-dim");
  const current = (path: string) => (location === path ? ({ "aria-current": "page" } as const) : {});
  return (
    <nav aria-label="Bottom" className="flex border-t border-line bg-panel pb-[env(safe-area-inset-bottom)] md:hidden">
      <Link href="/" className={look("/")} {...current("/")}>
        <Columns3 size={18} aria-hidden />
        Board
        {waiting > 0 && (
          <span className="absolute top-1 left-1/2 ml-2 rounded-full bg-alert px-1.5 text-[0.6875rem] leading-4 font-semibold text-page tabular-nums">
            {waiting}
            <span className="sr-only"> need you</span>
          </span>
        )}
      </Link>
      {may && (
        <Link href="/new" className={look("/new")} {...current("/new")}>
          <Plus size={18} aria-hidden />
          New
        </Link>
      )}
      <button type="button" className={look("")} onClick={() => searchFrom(navigate)}>
        <Search size={18} aria-hidden />
        Search
      </button>
      <Link href="/settings" className={look("/settings")} {...current("/settings")}>
        <Settings size={18} aria-hidden />
        Settings
      </Link>
    </nav>
  );
}

function count(sessions: Iterable<Parameters<typeof columnOf>[0]>): number {
  let waiting = 0;
  for (const session of sessions) if (columnOf(session) === "you") waiting++;
  return waiting;
}
