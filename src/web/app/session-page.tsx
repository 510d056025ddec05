/** A session: its header, its tabs, and the selected view. Fills the rest of the frame and scrolls inside. */
import { Fragment } from "react";
import { useLive } from "../shared/data/live.ts";
import { lazyView, Spinner } from "../shared/ui/loading.tsx";
import { DownBar } from "../session/down-bar.tsx";
import { MissingSession } from "../session/missing-session.tsx";
import { SessionHeader } from "../session/session-header.tsx";
import { useDisplaySession } from "./display-session.ts";
import { Link } from "wouter";
import type { SessionJson } from "../../contract/session.ts";
import { clsx } from "clsx";

const ChatView = lazyView(() => import("../chat/chat-view.tsx"));
const TerminalView = lazyView(() => import("../terminal/terminal-view.tsx"));
const ChangesView = lazyView(() => import("../changes/changes-view.tsx"));
const EventsView = lazyView(() => import("../session/events-view.tsx"));

export default function SessionPage({ id, view }: { id: string; view: string | null }) {
  const session = useDisplaySession(id);
  const loaded = useLive((state) => state.loaded);
  const deleted = useLive((state) => state.deleted.has(id));
  if (session === undefined)
    return loaded ? <MissingSession id={id} deleted={deleted} /> : <Spinner label="Waiting for the daemon" />;
  const shown = viewOf(view);
  const Main = session.kind === "chat" ? ChatView : TerminalView;
  return (
    // The page is at least as tall as the window, so a view that must not grow is positioned outside the flow.
    <div className="relative min-h-0 flex-1">
      <div className="absolute inset-0 flex flex-col overflow-hidden">
        <SessionHeader key={id} session={session} />
        <SessionTabs session={session} shown={shown} />
        <DownBar session={session} />
        <div className="relative flex min-h-0 flex-1 flex-col">
          {/* Keyed by id and kind: no view state, drafts included, may carry over to another session. */}
          <Fragment key={`${id} ${session.kind}`}>
            {shown === "main" && <Main session={session} />}
            {shown === "changes" && <ChangesView session={session} />}
            {shown === "events" && <EventsView session={session} />}
          </Fragment>
        </div>
      </div>
    </div>
  );
}

type View = "main" | "changes" | "events";

/** An unknown view name shows the main view. */
function viewOf(name: string | null): View {
  return name === "changes" || name === "events" ? name : "main";
}

function SessionTabs({ session, shown }: { session: SessionJson; shown: View }) {
  const tabs: { view: View; label: string; path: string }[] = [
    { view: "main", label: session.kind === "chat" ? "Chat" : "Terminal", path: "" },
    { view: "changes", label: "Changes", path: "/changes" },
    { view: "events", label: "Events", path: "/events" },
  ];
  return (
    <nav aria-label="Session views" className="flex shrink-0 overflow-x-auto border-b border-line bg-panel px-2">
      {tabs.map(({ view, label, path }) => (
        <Link
          key={view}
          href={`/s/${encodeURIComponent(session.id)}${path}`}
          aria-current={view === shown ? "page" : undefined}
          className={clsx(
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
