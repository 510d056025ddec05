/** The worktree's changes against its base, file by file, with comments on lines that become a prompt. */
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { Columns2, ListTree, RefreshCw, Rows2 } from "lucide-react";
import type { SessionJson } from "../../contract/session.ts";
import type { ChangedFileJson } from "../../contract/worktree.ts";
import { usePreference } from "../shared/data/preferences.ts";
import { Button } from "../shared/ui/button.tsx";
import { clsx } from "clsx";
import { Fault, Select, TextInput } from "../shared/ui/field.tsx";
import { Spinner } from "../shared/ui/loading.tsx";
import { countOf } from "../shared/ui/safe-text.ts";
import { DiffPane, type DiffHandle } from "./diff-pane.tsx";
import { FileList } from "./file-list.tsx";
import { LineDialog } from "./comment-card.tsx";
import { loadReview, useReview, type Comment, type DiffLine } from "./review.ts";
import { ReviewBar } from "./review-bar.tsx";
import { parsePatch, useChanges, type Changes, type Loaded } from "./use-changes.ts";

/** Below this width, two columns of code are too narrow to read. */
const narrow = "(max-width: 900px)";

function useNarrow(): boolean {
  return useSyncExternalStore(subscribeWidth, () => matchMedia(narrow).matches);
}

function subscribeWidth(listener: () => void): () => void {
  const query = matchMedia(narrow);
  query.addEventListener("change", listener);
  return () => query.removeEventListener("change", listener);
}

const areas = ["committed", "staged", "unstaged", "untracked"] as const;

export default function ChangesView({ session }: { session: SessionJson }) {
  const state = useChanges(session.id);
  const { loaded, fault, refresh } = state;
  useEffect(() => loadReview(session.id), [session.id]);
  if (loaded === null) {
    return fault === null ? (
      <Spinner label="Loading changes" />
    ) : (
      <div className="flex flex-col items-start gap-3 p-4">
        <Fault text={`Could not load changes: ${fault}`} />
        <Button onClick={refresh}>Try again</Button>
      </div>
    );
  }
  return <Review {...state} session={session} loaded={loaded} />;
}

function Review({ session, loaded, fault, busy, refresh }: Changes & { session: SessionJson; loaded: Loaded }) {
  const { changes, patch } = loaded;
  const [{ query, area }, setFilter] = useState({ query: "", area: "" });
  const [open, setOpen] = useState<DiffLine | null>(null);
  const [lineOf, setLineOf] = useState<string | null>(null);
  const [showFiles, setShowFiles] = useState(false);
  const [diffAs, setDiffAs] = usePreference("diffAs");
  const narrow = useNarrow();
  const comments = useReview(session.id);
  const handle = useRef<DiffHandle>(null);
  const diffs = useMemo(() => parsePatch(patch.patch), [patch.patch]);
  const files = useMemo(() => filtered(changes.files, query, area), [changes.files, query, area]);
  const counts = useMemo(() => countByFile(comments), [comments]);
  const split = diffAs === "split" && !narrow;

  const pick = (path: string): void => {
    setShowFiles(false);
    handle.current?.scrollTo({ type: "item", id: path, align: "start" });
  };
  const pickComment = ({ path, line, side }: Comment): void =>
    handle.current?.scrollTo({ type: "line", id: path, lineNumber: line, side, align: "center" });
  const dialogDiff = lineOf === null ? undefined : diffs.get(lineOf);

  if (changes.files.length === 0) {
    return (
      <div className="flex flex-col items-start gap-3 p-4">
        <p role="status">
          No changes against <span className="font-mono">{changes.base}</span>. The agent&apos;s changes appear here.
        </p>
        <Button onClick={refresh} disabled={busy}>
          <RefreshCw size={14} aria-hidden /> Refresh
        </Button>
      </div>
    );
  }
  const list = <FileList files={files} comments={counts} onPick={pick} />;
  return (
    <div className="absolute inset-0 flex flex-col">
      <div className="flex shrink-0 flex-wrap items-center gap-1 border-b border-line bg-panel px-2 py-1">
        <p role="status" className="mr-auto px-1 text-xs text-dim">
          {summary(changes.files, changes.base)}
        </p>
        <TextInput
          type="search"
          aria-label="Filter files"
          placeholder="Filter files"
          className="w-36! py-1!"
          value={query}
          onChange={(event) => setFilter({ query: event.target.value, area })}
        />
        <Select
          aria-label="Change type"
          className="w-auto! py-1!"
          value={area}
          onChange={(event) => setFilter({ query, area: event.target.value })}
        >
          <option value="">All changes</option>
          {areas.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </Select>
        <Button
          size="small"
          variant="quiet"
          className="lg:hidden"
          aria-expanded={showFiles}
          onClick={() => setShowFiles(!showFiles)}
        >
          <ListTree size={14} aria-hidden /> Files
        </Button>
        {!narrow && (
          <Button
            size="small"
            variant="quiet"
            aria-pressed={split}
            onClick={() => setDiffAs(split ? "unified" : "split")}
          >
            {split ? <Columns2 size={14} aria-hidden /> : <Rows2 size={14} aria-hidden />} Split
          </Button>
        )}
        <Button size="small" variant="quiet" disabled={busy} onClick={refresh}>
          <RefreshCw size={14} aria-hidden className={clsx(busy && "animate-spin")} /> Refresh
        </Button>
      </div>
      <Warnings loaded={loaded} diffs={diffs} fault={fault} />
      {showFiles && (
        <div className="max-h-[50vh] shrink-0 overflow-y-auto border-b border-line bg-panel p-1 lg:hidden">{list}</div>
      )}
      <div className="flex min-h-0 flex-1">
        <nav
          aria-label="Files"
          className="hidden w-72 shrink-0 overflow-y-auto border-r border-line bg-panel p-1 lg:block"
        >
          {list}
        </nav>
        <div className="relative min-w-0 flex-1">
          {files.length === 0 ? (
            <p className="p-4 text-dim">No matching files.</p>
          ) : (
            <DiffPane
              ref={handle}
              session={session.id}
              files={files}
              diffs={diffs}
              split={split}
              comments={comments}
              open={open}
              onOpen={setOpen}
              onCommentFile={setLineOf}
            />
          )}
        </div>
      </div>
      <ReviewBar session={session} comments={comments} onPick={pickComment} />
      {lineOf !== null && dialogDiff !== undefined && (
        <LineDialog session={session.id} path={lineOf} diff={dialogDiff} onClose={() => setLineOf(null)} />
      )}
    </div>
  );
}

interface WarningsProps {
  loaded: Loaded;
  diffs: ReadonlyMap<string, unknown>;
  fault: string | null;
}

function Warnings({ loaded: { changes, patch }, diffs, fault }: WarningsProps) {
  const missing = changes.files.flatMap(({ path, binary }) => (binary || diffs.has(path) ? [] : [path]));
  const named = `${missing.slice(0, 5).join(", ")}${missing.length > 5 ? " and more" : ""}`;
  const lines = [
    fault !== null && `This may be out of date: ${fault}`,
    changes.truncated && "Not all changed files are listed.",
    patch.truncated && "The changes are too large to show in full.",
    patch.truncated && missing.length > 0 && `Not shown: ${named}.`,
  ].filter((line) => line !== false);
  if (lines.length === 0) return null;
  return (
    <p role="status" className="shrink-0 border-b border-line bg-alert-soft px-3 py-1 text-alert">
      {lines.join(" ")}
    </p>
  );
}

/** `area`: empty for all. */
function filtered(files: readonly ChangedFileJson[], query: string, area: string): ChangedFileJson[] {
  const needle = query.toLowerCase();
  return files.filter(
    (file) =>
      file.path.toLowerCase().includes(needle) && (area === "" || file.areas.some((name: string) => name === area)),
  );
}

function countByFile(comments: readonly Comment[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { path } of comments) counts.set(path, (counts.get(path) ?? 0) + 1);
  return counts;
}

function summary(files: readonly ChangedFileJson[], base: string): string {
  const added = files.reduce((sum, file) => sum + file.additions, 0);
  const removed = files.reduce((sum, file) => sum + file.deletions, 0);
  return `${countOf(files.length, "file")} against ${base}, +${added} -${removed}`;
}
