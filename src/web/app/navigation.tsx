/** The header, and on phones the bar at the bottom, where a thumb reaches it. */
import { clsx } from "clsx";
import { Columns3, Command, Monitor, Moon, Plus, Search, Settings, Sun } from "lucide-react";
import { Link, useLocation } from "wouter";
import { BoardControls } from "../board/board-controls.tsx";
import { needsYouCount, useLive, useMay } from "../shared/data/live.ts";
import { usePreference } from "../shared/data/preferences.ts";
import { IconButton } from "../shared/ui/button.tsx";
import { openOverlay, searchFrom } from "./shortcuts.ts";

const linkStyles =
  "h-8 items-center justify-center rounded-md font-medium whitespace-nowrap text-dim hover:bg-sunken hover:text-text pointer-coarse:h-10";

export function Header() {
  const [location] = useLocation();
  const may = useMay("all");
  return (
    <header className="flex flex-wrap items-center gap-x-3 gap-y-2 border-b border-line bg-panel px-3 py-1.5 pt-[max(0.375rem,env(safe-area-inset-top))] md:flex-nowrap md:px-4">
      <Link href="/" className="flex items-center gap-2 font-semibold pointer-coarse:py-2.5">
        <Brand />
        Holdfast
      </Link>
      {location === "/" ? (
        <div className="order-last flex w-full min-w-0 md:order-none md:flex-1">
          <BoardControls />
        </div>
      ) : (
        <span className="flex-1" />
      )}
      <nav aria-label="Main" className="ml-auto flex items-center gap-1">
        {may && (
          <Link
            href="/new"
            className={clsx(
              linkStyles,
              "hidden gap-1.5 bg-accent px-3 text-accent-ink! hover:bg-accent hover:brightness-110 md:inline-flex",
            )}
          >
            <Plus size={16} aria-hidden />
            New session
          </Link>
        )}
        <IconButton
          label="Command palette"
          aria-keyshortcuts="Control+K Meta+K"
          onClick={() => openOverlay("palette")}
          Sign={Command}
        />
        <ThemeButton />
        <Link
          href="/settings"
          aria-label="Settings"
          title="Settings"
          className={clsx(linkStyles, "hidden w-8 md:inline-flex pointer-coarse:w-10")}
        >
          <Settings size={16} aria-hidden />
        </Link>
      </nav>
    </header>
  );
}

const themes = {
  system: { next: "light", Sign: Monitor },
  light: { next: "dark", Sign: Sun },
  dark: { next: "system", Sign: Moon },
} as const;

function ThemeButton() {
  const [theme, setTheme] = usePreference("theme");
  const { next, Sign } = themes[theme];
  return <IconButton label={`Theme: ${theme}`} className="max-md:hidden" onClick={() => setTheme(next)} Sign={Sign} />;
}

const itemStyles = "relative flex h-14 flex-1 flex-col items-center justify-center gap-0.5 text-xs";

export function BottomBar() {
  const [location, navigate] = useLocation();
  const waiting = useLive(needsYouCount);
  const may = useMay("all");
  const link = (path: string) => ({
    href: path,
    className: clsx(itemStyles, location === path ? "font-medium text-accent" : "text-dim"),
    "aria-current": location === path ? ("page" as const) : undefined,
  });
  return (
    <nav aria-label="Bottom" className="flex border-t border-line bg-panel pb-[env(safe-area-inset-bottom)] md:hidden">
      <Link {...link("/")}>
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
        <Link {...link("/new")}>
          <Plus size={18} aria-hidden />
          New
        </Link>
      )}
      <button type="button" className={clsx(itemStyles, "text-dim")} onClick={() => searchFrom(navigate)}>
        <Search size={18} aria-hidden />
        Search
      </button>
      <Link {...link("/settings")}>
        <Settings size={18} aria-hidden />
        Settings
      </Link>
    </nav>
  );
}

/** The logo, inline: a separate image would be missing while the daemon is down. */
export function Brand() {
  return (
    <svg viewBox="0 0 32 32" width={20} height={20} aria-hidden>
      <rect width="32" height="32" rx="7" className="fill-accent" />
      <path d="M10 6v20M22 6v20M10 16h12" className="stroke-accent-ink" strokeWidth="4" strokeLinecap="round" />
    </svg>
  );
}
