import type { SessionJson } from "../../protocol/wire.ts";

export default function ChatView({ session }: { session: SessionJson }) {
  return <p className="p-6">{session.title}</p>;
}
