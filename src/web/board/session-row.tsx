/** A session in the dense list. */
import { memo } from "react";
import { Link } from "wouter";
import { VerbMenu } from "../shared/verbs/verbs.tsx";
import { useSession } from "../shared/data/live.ts";
import { Age } from "../shared/ui/age.tsx";
import { plainText } from "../shared/ui/safe-text.ts";
import { StatusPill } from "../shared/ui/status-pill.tsx";
import { Permission } from "./permission.tsx";
import { PullRequest } from "../shared/ui/pull-request.tsx";
import { KindSign, Marks } from "./session-card.tsx";

export const SessionRow = memo(function SessionRow({ id, withProject }: { id: string; withProject: boolean }) {
  const session = useSession(id);
  if (session === undefined) return null;
  const why = session.reason ?? session.lastLine;
  return (
    <li className="[content-visibility:auto] [contain-intrinsic-size:auto_2.25rem]">
      <article
        aria-label={`${session.id} ${session.title}`}
        className="relative grid grid-cols-[minmax(0,1fr)_auto_auto] items-center gap-x-3 border-b border-line px-3 py-1 hover:bg-sunken lg:grid-cols-[9rem_5.5rem_minmax(0,2fr)_minmax(0,1.5fr)_10rem_2.5rem_auto]"
      >
        <span className="col-start-1 row-start-2 flex items-center gap-2 lg:col-start-1 lg:row-start-1">
          <StatusPill of={session} />
        </span>
        <span className="col-start-2 row-start-2 flex items-center justify-end gap-1.5 text-xs text-dim lg:col-start-2 lg:row-start-1 lg:justify-start">
          <KindSign kind={session.kind} />
          <span className="font-mono whitespace-nowrap">{session.id}</span>
        </span>
        <h3 className="col-span-2 col-start-1 row-start-1 flex min-w-0 items-baseline gap-2 lg:col-span-1 lg:col-start-3">
          <Link
            href={`/s/${session.id}`}
            data-card
            className="truncate font-medium outline-offset-2 after:absolute after:inset-0"
          >
            {plainText(session.title)}
          </Link>
          {why !== null && why !== "" && (
            <span className="hidden min-w-0 flex-1 truncate text-xs text-dim lg:inline" title={plainText(why)}>
              {plainText(why)}
            </span>
          )}
        </h3>
        <span className="hidden min-w-0 items-center gap-2 text-xs text-dim lg:flex">
          {withProject && <span className="whitespace-nowrap">{session.project}</span>}
          <span className="whitespace-nowrap">{session.agent}</span>
          <span className="truncate font-mono" title={session.branch ?? ""}>
            {plainText(session.branch ?? "")}
          </span>
        </span>
        <span className="relative hidden justify-self-start lg:flex lg:gap-2">
          {session.pullRequest !== null && <PullRequest of={session.pullRequest} />}
          <Marks session={session} />
        </span>
        <span className="col-start-3 row-start-2 text-right text-xs text-dim tabular-nums lg:col-start-6 lg:row-start-1">
          <Age of={session.lastActivityAt} />
        </span>
        <span className="relative col-start-3 row-start-1 -mr-2 lg:col-start-7">
          <VerbMenu session={session} />
        </span>
        {session.permissions.length > 0 && (
          <div className="relative col-span-full my-1">
            <Permission session={session} />
          </div>
        )}
      </article>
    </li>
  );
});
