import { Link } from "wouter";
import { useLive } from "../state/live.ts";
import { StatusPill } from "../ui/status-pill.tsx";

export function Board() {
  const sessions = useLive((state) => state.sessions);
  return (
    <ul className="p-4">
      {[...sessions.values()].map((session) => (
        <li key={session.id}>
          <Link href={`/s/${session.id}`}>{session.title}</Link> <StatusPill status={session.status} />
        </li>
      ))}
    </ul>
  );
}
