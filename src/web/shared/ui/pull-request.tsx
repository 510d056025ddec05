/** A pull request in one line: number, checks, review. As text as well as in color. */
import {
  CircleCheck,
  CircleDashed,
  CircleX,
  GitMerge,
  GitPullRequest,
  GitPullRequestClosed,
  GitPullRequestDraft,
  MessageSquareWarning,
  ThumbsUp,
  TriangleAlert,
} from "lucide-react";
import type { PullRequestJson } from "../../../contract/session.ts";
import { Age } from "./age.tsx";
import { ExternalLink } from "./button.tsx";
import { clsx } from "clsx";
import { plainText, webAddress } from "./safe-text.ts";

/** Check names shown; the tooltip lists all. */
const namedChecks = 2;

interface Shown {
  of: PullRequestJson;
  /** Also shows its title, and when the tracker last confirmed it. */
  detailed?: boolean;
  className?: string;
}

export function PullRequest({ of, detailed = false, className }: Shown) {
  const { draft, checks, review, conflict, title, seenAt } = of;
  // The checks of a merged or closed pull request no longer matter.
  const open = of.state === "open";
  return (
    <span
      className={clsx(
        "inline-flex max-w-full flex-wrap items-center gap-x-2 gap-y-0.5 text-xs tabular-nums",
        className,
      )}
    >
      <Name of={of} />
      {open && draft === true && <span className="text-dim">draft</span>}
      {!open && <span className="text-dim">{of.state}</span>}
      {open && checks !== undefined && <Checks {...checks} />}
      {open && review !== undefined && <Review state={review} />}
      {open && conflict === true && <Mark Sign={TriangleAlert} tone="text-alert" text="conflicts" />}
      {detailed && open && seenAt !== undefined && seenAt !== null && (
        <span className="text-dim">
          updated <Age of={seenAt} />
        </span>
      )}
      {/* Last: the first to be cut off if there is no room. */}
      {detailed && title !== undefined && title !== "" && <span className="min-w-0 truncate">{plainText(title)}</span>}
    </span>
  );
}

function Name({ of: { url, number, state, draft, title } }: { of: PullRequestJson }) {
  const name = number === undefined ? (/(\d+)\/?$/.exec(url)?.[1] ?? "") : String(number);
  return (
    <ExternalLink
      href={webAddress(url)}
      title={title === undefined ? undefined : plainText(title)}
      className="inline-flex items-center text-accent underline-offset-2 hover:underline pointer-coarse:py-2"
    >
      <span className="inline-flex items-center gap-1">
        <StateSign state={state} draft={draft === true} />
        <span>PR {name === "" ? state : `#${name}`}</span>
      </span>
    </ExternalLink>
  );
}

function StateSign({ state, draft }: { state: string; draft: boolean }) {
  if (state === "merged") return <GitMerge size={12} aria-hidden />;
  if (state === "closed") return <GitPullRequestClosed size={12} aria-hidden />;
  return draft ? <GitPullRequestDraft size={12} aria-hidden /> : <GitPullRequest size={12} aria-hidden />;
}

function Checks({ passed, failed, pending, failedNames }: NonNullable<PullRequestJson["checks"]>) {
  const all = passed + failed + pending;
  if (all === 0) return null;
  const counts = `${passed} passed, ${pending} pending, ${failed} failed`;
  if (failed > 0) {
    const names = failedNames.map(plainText);
    const shown = names.slice(0, namedChecks).join(", ");
    const more = names.length > namedChecks ? ` and ${names.length - namedChecks} more` : "";
    const text = `CI ${failed} failed: ${shown}${more}`;
    return <Mark Sign={CircleX} tone="text-danger" text={text} title={`${counts}: ${names.join(", ")}`} />;
  }
  if (pending > 0) return <Mark Sign={CircleDashed} tone="text-busy" text={`CI ${passed}/${all}`} title={counts} />;
  return <Mark Sign={CircleCheck} tone="text-good" text="CI passed" title={counts} />;
}

function Review({ state }: { state: string }) {
  if (state === "approved") return <Mark Sign={ThumbsUp} tone="text-good" text="approved" />;
  if (state === "changes_requested")
    return <Mark Sign={MessageSquareWarning} tone="text-alert" text="changes requested" />;
  if (state === "required") return <span className="text-dim">review required</span>;
  return null;
}

function Mark({ Sign, tone, text, title }: { Sign: typeof CircleX; tone: string; text: string; title?: string }) {
  return (
    <span className={clsx("inline-flex min-w-0 items-center gap-1", tone)} title={title}>
      <Sign size={12} aria-hidden className="shrink-0" />
      <span className="min-w-0 break-words">{text}</span>
    </span>
  );
}
