/** A pull request in one line: number, checks, review. */
import {
  CircleCheck,
  CircleDashed,
  CircleX,
  GitMerge,
  GitPullRequest,
  MessageSquareWarning,
  ThumbsUp,
} from "lucide-react";
import type { SessionJson } from "../../protocol/wire.ts";
import { classes } from "../ui/classes.ts";
import { safeHref } from "../ui/safe-href.ts";

/** What a tracker may tell beside the address; older daemons tell less. */
interface Told {
  number?: number;
  draft?: boolean;
  checks?: { passed: number; failed: number; pending: number };
  review?: string;
  conflict?: boolean | null;
}

export function PullRequest({ of, className }: { of: NonNullable<SessionJson["pullRequest"]>; className?: string }) {
  const { number, draft, checks, review, conflict } = of as Told;
  const href = safeHref(of.url);
  const name = number === undefined ? (/(\d+)\/?$/.exec(of.url)?.[1] ?? "") : String(number);
  const Sign = of.state === "merged" ? GitMerge : GitPullRequest;
  const label = (
    <>
      <Sign size={12} aria-hidden />
      <span>PR {name === "" ? of.state : `#${name}`}</span>
    </>
  );
  return (
    <span className={classes("inline-flex flex-wrap items-center gap-x-2 gap-y-0.5 text-xs tabular-nums", className)}>
      {href === null ? (
        <span className="inline-flex items-center gap-1">{label}</span>
      ) : (
        <a
          href={href}
          target="_blank"
          rel="noopener noreferrer"
          className="inline-flex items-center gap-1 text-accent underline-offset-2 hover:underline pointer-coarse:py-2"
        >
          {label}
        </a>
      )}
      {draft === true && <span className="text-dim">draft</span>}
      {of.state !== "open" && <span className="text-dim">{of.state}</span>}
      {checks !== undefined && <Checks {...checks} />}
      {review !== undefined && <Review state={review} />}
      {conflict === true && <span className="text-alert">conflicts</span>}
    </span>
  );
}

function Checks({ passed, failed, pending }: { passed: number; failed: number; pending: number }) {
  const all = passed + failed + pending;
  if (all === 0) return null;
  if (failed > 0) return <Mark Sign={CircleX} tone="text-danger" text={`CI ${failed} failed`} />;
  if (pending > 0) return <Mark Sign={CircleDashed} tone="text-busy" text={`CI ${passed}/${all}`} />;
  return <Mark Sign={CircleCheck} tone="text-good" text="CI passed" />;
}

function Review({ state }: { state: string }) {
  if (state === "approved") return <Mark Sign={ThumbsUp} tone="text-good" text="approved" />;
  if (state === "changes_requested")
    return <Mark Sign={MessageSquareWarning} tone="text-alert" text="changes requested" />;
  if (state === "required") return <span className="text-dim">review wanted</span>;
  return null;
}

function Mark({ Sign, tone, text }: { Sign: typeof CircleX; tone: string; text: string }) {
  return (
    <span className={classes("inline-flex items-center gap-1", tone)}>
      <Sign size={12} aria-hidden />
      {text}
    </span>
  );
}
