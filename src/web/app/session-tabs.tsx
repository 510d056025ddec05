import { Link } from "wouter";
import type { SessionJson } from "../../contract/wire.ts";
import { classes } from "../shared/ui/classes.ts";

export type View = "main" | "changes" | "events";

/** An address with a view that is not there shows the first one. */
export function viewOf(name: string | null): View {
  return name === "changes" || name === "events" ? name : "main";
}

export function SessionTabs({ session, shown }: { session: SessionJson; shown: View }) {
  const tabs: { view: View; label: string; path: string }[] = [
    { view: "main", label: session.kind === "chat" ? "Chat" : "Terminal", path: "" },
    { view: "changes", label: "Changes", path: "/changes" },
    { view: "events", label: "Events", path: "/events" },
  ];
  return (
    <nav aria-label="Views of the session" className="flex shrink-0 overflow-x-auto border-b border-line bg-panel px-2">
      {tabs.map(({ view, label, path }) => (
        <Link
          key={view}
          href={`/s/${encodeURIComponent(session.id)}${path}`}
          aria-current={view === shown ? "page" : undefined}
          className={classes(
            "flex h-9 items-center border-b-2 px-3 pointer-coarse:h-11",
            view === shown ? "border-accent font-medium" : "border-transparent text-dim hover:text-text",
          )}
        >
          {label}
        </Link>
      ))}
    </nav>
  );
}
