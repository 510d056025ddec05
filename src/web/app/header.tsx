import { Command, Monitor, Moon, Plus, Settings, Sun } from "lucide-react";
import { Link, useLocation } from "wouter";
import { BoardControls } from "../board/board-controls.tsx";
import { useMay } from "../shared/data/live.ts";
import { usePreference } from "../shared/data/preferences.ts";
import { Brand } from "../shared/ui/brand.tsx";
import { IconButton } from "../shared/ui/button.tsx";
import { classes } from "../shared/ui/classes.ts";
import { openOverlay } from "../shared/data/overlays.ts";

export function Header() {
  const [location] = useLocation();
  const onBoard = location === "/";
  const may = useMay("all");
  return (
    <header className="flex flex-wrap items-center gap-x-3 gap-y-2 border-b border-line bg-panel px-3 py-1.5 pt-[max(0.375rem,env(safe-area-inset-top))] md:flex-nowrap md:px-4">
      <Link href="/" className="flex items-center gap-2 font-semibold pointer-coarse:py-2.5">
        <Brand />
        Holdfast
      </Link>
      {onBoard ? (
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
            className={classes(
              linkLook,
              "hidden gap-1.5 bg-accent px-3 text-accent-ink! hover:bg-accent hover:brightness-110 md:inline-flex",
            )}
          >
            <Plus size={16} aria-hidden />
            New session
          </Link>
        )}
        <IconButton label="Command palette" aria-keyshortcuts="Control+K Meta+K" onClick={() => openOverlay("palette")}>
          <Command size={16} aria-hidden />
        </IconButton>
        <ThemeButton />
        <Link
          href="/settings"
          aria-label="Settings"
          title="Settings"
          className={classes(linkLook, "hidden w-8 md:inline-flex pointer-coarse:w-10")}
        >
          <Settings size={16} aria-hidden />
        </Link>
      </nav>
    </header>
  );
}

const linkLook =
  "h-8 items-center justify-center rounded-md font-medium whitespace-nowrap text-dim hover:bg-sunken hover:text-text pointer-coarse:h-10";

const themes = {
  system: { next: "light", Sign: Monitor, label: "Colours: as the system has them" },
  light: { next: "dark", Sign: Sun, label: "Colours: light" },
  dark: { next: "system", Sign: Moon, label: "Colours: dark" },
} as const;

function ThemeButton() {
  const [theme, setTheme] = usePreference("theme");
  const { next, Sign, label } = themes[theme];
  return (
    <IconButton label={label} className="max-md:hidden" onClick={() => setTheme(next)}>
      <Sign size={16} aria-hidden />
    </IconButton>
  );
}
