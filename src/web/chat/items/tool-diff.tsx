import { useMemo, useState } from "react";
import { Button } from "../../shared/ui/button.tsx";
import { clsx } from "clsx";
import { CopyButton } from "../../shared/ui/code-text.tsx";
import { plainOutput } from "../inert.ts";
import { diffLines, hunksOf } from "../line-diff.ts";
import type { DiffPart } from "../tool-parts.ts";

/** About three screens; the changes view shows everything. */
const firstLines = 120;
/** Larger texts are not compared. */
const comparedCharacters = 2_000_000;

export function ToolDiff({ diff, path }: { diff: DiffPart; path: string }) {
  const [all, setAll] = useState(false);
  const { lines, added, removed } = useMemo(() => counted(diff), [diff]);
  if (lines === null) {
    return <p className="text-xs text-dim">{path}: too large to show here. See the changes view.</p>;
  }
  const shown = all ? lines : lines.slice(0, firstLines);
  return (
    <figure aria-label={`Changes in ${path}`} className="overflow-hidden rounded-md border border-line">
      <figcaption className="flex min-h-8 items-center gap-2 bg-sunken px-2 text-xs">
        <span className="min-w-0 flex-1 truncate font-mono" title={path}>
          {path}
        </span>
        <span className="text-good tabular-nums">+{added}</span>
        <span className="text-danger tabular-nums">−{removed}</span>
        <CopyButton label={`Copy path ${path}`} text={path} />
      </figcaption>
      <div
        tabIndex={0}
        role="region"
        aria-label={`Diff of ${path}`}
        className="max-h-96 overflow-auto font-mono text-xs leading-5"
      >
        <div className="w-max min-w-full">
          {shown.map((line, index) => (
            <div
              key={index}
              className={clsx(
                "px-2 whitespace-pre",
                line.sign === "+" && "bg-good-soft",
                line.sign === "-" && "bg-danger-soft",
                line.sign === "…" && "bg-sunken text-dim",
              )}
            >
              <span className="inline-block w-4 select-none text-dim">{line.sign === "…" ? "" : line.sign}</span>
              {plainOutput(line.text)}
            </div>
          ))}
        </div>
      </div>
      {shown.length < lines.length && (
        <Button size="small" variant="quiet" onClick={() => setAll(true)}>
          Show all {lines.length} lines
        </Button>
      )}
    </figure>
  );
}

interface Shown {
  sign: " " | "+" | "-" | "…";
  text: string;
}

function counted({ before, after }: DiffPart): { lines: Shown[] | null; added: number; removed: number } {
  if (before.length + after.length > comparedCharacters) return { lines: null, added: 0, removed: 0 };
  const all = diffLines(before, after);
  const lines = hunksOf(all).flatMap(({ lines: hunk, skipped }): Shown[] => [
    ...(skipped > 0 ? [{ sign: "…" as const, text: skipped === 1 ? "1 line" : `${skipped} lines` }] : []),
    ...hunk,
  ]);
  return {
    lines,
    added: all.filter(({ sign }) => sign === "+").length,
    removed: all.filter(({ sign }) => sign === "-").length,
  };
}
