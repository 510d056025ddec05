import { lazy } from "react";
import { useSession } from "../state/live.ts";

const ChatView = lazy(() => import("../chat/chat-view.tsx"));
const TerminalView = lazy(() => import("../terminal/terminal-view.tsx"));
const ChangesView = lazy(() => import("../changes/changes-view.tsx"));

export default function SessionPage({ id, view }: { id: string; view: string | null }) {
  const session = useSession(id);
  if (session === undefined) return <p className="p-6">There is no session {id}.</p>;
  if (view === "changes") return <ChangesView session={session} />;
  return session.kind === "chat" ? <ChatView session={session} /> : <TerminalView session={session} />;
}
