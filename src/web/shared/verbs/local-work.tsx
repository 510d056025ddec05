/** The work that a kill or delete would find in the worktree, asked for before it is done. */
import { useEffect, useState, type ReactNode } from "react";
import type { SessionJson, WorkJson } from "../../../contract/wire.ts";
import { call, sentenceOf } from "../data/api.ts";

export type Work =
  | { is: "none" }
  | { is: "asking" }
  | { is: "unknown"; why: string }
  | { is: "known"; value: WorkJson };

export function useWork(session: SessionJson, wanted: boolean): Work {
  const [work, setWork] = useState<Work>(wanted ? { is: "asking" } : { is: "none" });
  useEffect(() => {
    if (!wanted) return undefined;
    const abort = new AbortController();
    call("work", { params: { id: session.id }, signal: abort.signal }).then(
      (value) => setWork({ is: "known", value }),
      (error: unknown) => {
        if (!abort.signal.aborted) setWork({ is: "unknown", why: sentenceOf(error) });
      },
    );
    return () => abort.abort();
  }, [session.id, wanted]);
  return work;
}

export function hasWork(work: Work): boolean {
  return work.is === "known" && (work.value.uncommitted > 0 || work.value.unpushed.length > 0);
}

/** Enough to recognise them; the rest is counted. */
const shownCommits = 5;

export function KeptWork({ work }: { work: Work }): ReactNode {
  if (work.is === "none") return null;
  if (work.is === "asking") {
    return (
      <p role="status" className="text-dim">
        Looking for uncommitted and unpushed work …
      </p>
    );
  }
  if (work.is === "unknown") {
    return (
      <p role="alert" className="rounded-md bg-alert-soft p-3 text-alert">
        Whether there is uncommitted or unpushed work could not be found out: {work.why} Nothing is deleted in any case:
        the worktree goes to the trash as it is.
      </p>
    );
  }
  const { uncommitted, unpushed, where } = work.value;
  if (!hasWork(work)) return <p className="text-dim">No uncommitted or unpushed work was found. {where}</p>;
  return (
    <div role="alert" className="flex flex-col gap-1.5 rounded-md bg-alert-soft p-3">
      <p className="font-medium text-alert">
        There is work that exists only here:{" "}
        {[count(uncommitted, "uncommitted file"), count(unpushed.length, "unpushed commit")]
          .filter(Boolean)
          .join(" and ")}
        .
      </p>
      {unpushed.length > 0 && (
        <ul className="font-mono text-xs break-words">
          {unpushed.slice(0, shownCommits).map((commit) => (
            <li key={commit}>{commit}</li>
          ))}
          {unpushed.length > shownCommits && <li>and {unpushed.length - shownCommits} more</li>}
        </ul>
      )}
      <p className="break-words">{where}</p>
    </div>
  );
}

function count(number: number, what: string): string {
  return number === 0 ? "" : `${number} ${what}${number === 1 ? "" : "s"}`;
}
