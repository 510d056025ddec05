/** Above every view of a session that is down: why, and how to bring it back. */
import { Link } from "wouter";
import type { SessionJson } from "../../contract/session.ts";
import { useMay } from "../shared/data/live.ts";
import { Age } from "../shared/ui/age.tsx";
import { Button } from "../shared/ui/button.tsx";
import { clsx } from "clsx";
import { actorLabel } from "../../model/event-text.ts";
import { verbs } from "../../model/verbs.ts";
import { startVerb } from "../shared/verbs/verbs.tsx";

export function DownBar({ session }: { session: SessionJson }) {
  const back = (["restore", "wake", "unarchive"] as const).find((name) => verbs[name].offered(session));
  const isDeleted = session.workspace === "gone";
  const may = useMay("all");
  if (back === undefined && !isDeleted) return null;
  return (
    <div
      className={clsx(
        "flex shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-3 py-1.5 sm:px-4",
        session.status === "failed" ? "bg-danger-soft" : "bg-sunken",
      )}
    >
      <p className="min-w-0 flex-1 basis-60 break-words">
        {sentence(session)} {isDeleted && "Its worktree was deleted, so it cannot be restarted."}
      </p>
      <div className="flex items-center gap-2">
        <Link
          href={`/s/${encodeURIComponent(session.id)}/events`}
          className="text-accent underline pointer-coarse:py-2.5"
        >
          Why did it end?
        </Link>
        {back !== undefined && may && (
          <Button size="small" variant="primary" onClick={() => startVerb(back, session)}>
            {session.status === "failed" ? "Try again" : verbs[back].label}
          </Button>
        )}
      </div>
    </div>
  );
}

function sentence(session: SessionJson): React.ReactNode {
  const { intent, status, reason, end } = session;
  const ago = (at: string | null) => (
    <span className="whitespace-nowrap text-dim">
      (<Age of={at} />)
    </span>
  );
  if (intent.want === "snoozed" && intent.until !== undefined && intent.until !== null) {
    return <>Snoozed until {new Date(intent.until).toLocaleString()}. A prompt also wakes it.</>;
  }
  if (intent.want !== "running") {
    const files = intent.want === "killed" ? "Its worktree is in the trash." : "A prompt also restarts it.";
    return (
      <>
        {intent.want[0]?.toUpperCase()}
        {intent.want.slice(1)} by {actorLabel(intent.by)} {ago(intent.at)}. {files}
      </>
    );
  }
  if (status === "failed") return <>Holdfast stopped restarting it: {reason ?? "its launch failed."}</>;
  return (
    <>
      The agent exited on its own {ago(end?.at ?? null)}. {reason} A prompt or Restore restarts it.
    </>
  );
}
