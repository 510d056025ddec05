/** A session on the board. Rendered again only if its own session changes. */
import { memo } from "react";
import { Link } from "wouter";
import { GitBranch, MessageSquare, SquareTerminal } from "lucide-react";
import type { SessionJson } from "../../contract/session.ts";
import { marksOf } from "../../model/board.ts";
import { VerbMenu } from "../shared/verbs/verbs.tsx";
import { useSession } from "../shared/data/live.ts";
import { Age } from "../shared/ui/age.tsx";
import { clsx } from "clsx";
import { plainText } from "../shared/ui/safe-text.ts";
import { StatusPill } from "../shared/ui/status-pill.tsx";
import { Permission } from "./permission.tsx";
import { PullRequest } from "../shared/ui/pull-request.tsx";

export const SessionCard = memo(function SessionCard({ id, withProject }: { id: string; withProject: boolean }) {
  const session = useSession(id);
  if (session === undefined) return null;
  return (
    <li className="[content-visibility:auto] [contain-intrinsic-size:auto_8rem]">
      <article
        aria-label={`${session.id} ${session.title}`}
        className="group relative flex flex-col gap-1.5 rounded-lg border border-line bg-panel p-3 focus-within:border-accent hover:border-line-strong"
      >
        <div className="flex items-start gap-1">
          <h3 className="min-w-0 flex-1 text-sm leading-5 font-semibold">
            {/* The link covers the card; other controls are stacked above it. */}
            <Link
              href={`/s/${session.id}`}
              data-card
              className="line-clamp-2 break-words outline-offset-4 after:absolute after:inset-0 after:rounded-lg"
            >
              {plainText(session.title)}
            </Link>
          </h3>
          <span className="relative -my-1.5 -mr-2 pointer-coarse:-my-2.5">
            <VerbMenu session={session} />
          </span>
        </div>
        <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <StatusPill of={session} />
          <Marks session={session} />
          <span className="ml-auto text-xs text-dim tabular-nums">
            <Age of={session.lastActivityAt} />
          </span>
        </div>
        <Summary session={session} />
        {session.permissions.length > 0 && (
          <div className="relative">
            <Permission session={session} />
          </div>
        )}
        {session.pullRequest !== null && <PullRequest of={session.pullRequest} className="relative self-start" />}
        <p className="flex min-w-0 items-center gap-x-2 text-xs text-dim">
          <KindSign kind={session.kind} />
          <span className="font-mono whitespace-nowrap">{session.id}</span>
          <span className="whitespace-nowrap">{session.agent}</span>
          {withProject && <span className="truncate">{session.project}</span>}
        </p>
        {session.branch !== null && (
          <p className="flex min-w-0 items-center gap-1 text-xs text-dim">
            <GitBranch size={12} aria-hidden className="shrink-0" />
            <span className="sr-only">Branch </span>
            <span className="truncate font-mono" title={session.branch}>
              {plainText(session.branch)}
            </span>
          </p>
        )}
      </article>
    </li>
  );
});

/** The reason for the status, then the agent's last line. */
function Summary({ session }: { session: SessionJson }) {
  const { reason, lastLine } = session;
  // After a crash, the reason already quotes the last line.
  const showLine = lastLine !== null && lastLine !== "" && reason?.includes(lastLine) !== true;
  return (
    <>
      {reason !== null && (
        <p className={clsx("line-clamp-3 text-xs break-words", session.needsYou === true ? "text-alert" : "text-dim")}>
          {plainText(reason)}
        </p>
      )}
      {showLine && (
        <p
          className={clsx(
            "text-xs text-dim",
            session.kind === "chat" ? "line-clamp-2 break-words" : "truncate font-mono",
          )}
          title={plainText(lastLine)}
        >
          {plainText(lastLine)}
        </p>
      )}
    </>
  );
}

export function Marks({ session }: { session: SessionJson }) {
  return marksOf(session).map((mark) => (
    <span key={mark} className="text-xs whitespace-nowrap text-dim tabular-nums">
      {mark}
    </span>
  ));
}

export function KindSign({ kind }: { kind: SessionJson["kind"] }) {
  const Sign = kind === "chat" ? MessageSquare : SquareTerminal;
  return (
    <span title={kind} className="shrink-0">
      <Sign size={12} aria-hidden />
      <span className="sr-only">{kind}</span>
    </span>
  );
}
