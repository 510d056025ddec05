/** One session: what it is, what may be done with it, and its views. It fills what the frame leaves and scrolls inside. */
import { Fragment } from "react";
import { useLive } from "../shared/data/live.ts";
import { later } from "../shared/ui/later.tsx";
import { Spinner } from "../shared/ui/spinner.tsx";
import { DownBar } from "../session/down-bar.tsx";
import { MissingSession } from "../session/missing-session.tsx";
import { SessionHeader } from "../session/session-header.tsx";
import { SessionTabs, viewOf } from "./session-tabs.tsx";
import { useCalmSession } from "./use-display-session.ts";

const ChatView = later(() => import("../chat/chat-view.tsx"));
const TerminalView = later(() => import("../terminal/terminal-view.tsx"));
const ChangesView = later(() => import("../changes/changes-view.tsx"));
const EventsView = later(() => import("../session/events-view.tsx"));

export default function SessionPage({ id, view }: { id: string; view: string | null }) {
  const session = useCalmSession(id);
  const loaded = useLive((state) => state.loaded);
  const deleted = useLive((state) => state.deleted.has(id));
  if (session === undefined)
    return loaded ? <MissingSession id={id} deleted={deleted} /> : <Spinner label="Waiting for the daemon" />;
  const shown = viewOf(view);
  const Main = session.kind === "chat" ? ChatView : TerminalView;
  return (
    // The page's height is the window's at least, so a view that must not grow stands outside the flow.
    <div className="relative min-h-0 flex-1">
      <div className="absolute inset-0 flex flex-col overflow-hidden">
        <SessionHeader key={id} session={session} />
        <SessionTabs session={session} shown={shown} />
        <DownBar session={session} />
        <div className="relative flex min-h-0 flex-1 flex-col">
          {/* By id and kind: nothing of one session's view may be shown, or typed, in another's. */}
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
