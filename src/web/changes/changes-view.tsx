/** The worktree's changes against its base, file by file, with comments on lines that become a prompt. */
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { Columns2, ListTree, RefreshCw, Rows2 } from "lucide-react";
import type { SessionJson } from "../../contract/session.ts";
import type { ChangedFileJson } from "../../contract/worktree.ts";
import { usePreference } from "../shared/data/preferences.ts";
import { Button } from "../shared/ui/button.tsx";
import { clsx } from "clsx";
import { Select, TextInput } from "../shared/ui/field.tsx";
import { Spinner } from "../shared/ui/loading.tsx";
import { DiffPane, type DiffHandle } from "./diff-pane.tsx";
import { FileList } from "./file-list.tsx";
import { LineDialog } from "./comment-card.tsx";
import {
  addComment,
  editComment,
  loadReview,
  removeComments,
  useReview,
  type Comment,
  type DiffLine,
} from "./review.ts";
import { ReviewBar } from "./review-bar.tsx";
import { parsePatch, useChanges, type Loaded } from "./use-changes.ts";

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

interface Filter {
  query: string;
  /** Empty for all. */
  area: string;
}

const areas = ["committed", "staged", "unstaged", "untracked"] as const;

export default function ChangesView({ session }: { session: SessionJson }) {
  const { loaded, fault, busy, refresh } = useChanges(session.id);
  useEffect(() => loadReview(session.id), [session.id]);
  if (loaded === null) {
    return fault === null ? (
      <Spinner label="Loading changes" />
    ) : (
      <div className="flex flex-col items-start gap-3 p-4">
        <p role="alert" className="text-danger">
          Could not load changes: {fault}
        </p>
        <Button onClick={refresh}>Try again</Button>
      </div>
    );
  }
  return <Review session={session} loaded={loaded} fault={fault} busy={busy} refresh={refresh} />;
}

interface ReviewProps {
  session: SessionJson;
  loaded: Loaded;
  fault: string | null;
  busy: boolean;
  refresh: () => void;
}

function Review({ session, loaded, fault, busy, refresh }: ReviewProps) {
  const { changes, patch } = loaded;
  const [filter, setFilter] = useState<Filter>({ query: "", area: "" });
  const [open, setOpen] = useState<DiffLine | null>(null);
  const [lineOf, setLineOf] = useState<string | null>(null);
  const [showFiles, setShowFiles] = useState(false);
  const [diffAs, setDiffAs] = usePreference("diffAs");
  const narrow = useNarrow();
  const comments = useReview(session.id);
  const handle = useRef<DiffHandle>(null);
  const diffs = useMemo(() => parsePatch(patch.patch), [patch.patch]);
  const files = useMemo(() => filtered(changes.files, filter), [changes.files, filter]);
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
      <Toolbar
        summary={summary(changes.files, changes.base)}
        filter={filter}
        onFilter={setFilter}
        split={narrow ? null : split}
        onSplit={() => setDiffAs(diffAs === "split" ? "unified" : "split")}
        showFiles={showFiles}
        onShowFiles={() => setShowFiles(!showFiles)}
        busy={busy}
        onRefresh={refresh}
      />
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
              files={files}
              diffs={diffs}
              split={split}
              comments={comments}
              open={open}
              onOpen={setOpen}
              onAdd={(line, text) => {
                addComment(session.id, line, text);
                setOpen(null);
              }}
              onEdit={(id, text) => editComment(session.id, id, text)}
              onRemove={(id) => removeComments(session.id, new Set([id]))}
              onCommentFile={setLineOf}
            />
          )}
        </div>
      </div>
      <ReviewBar session={session} comments={comments} onPick={pickComment} />
      {lineOf !== null && dialogDiff !== undefined && (
        <LineDialog
          path={lineOf}
          diff={dialogDiff}
          onAdd={(line, text) => addComment(session.id, line, text)}
          onClose={() => setLineOf(null)}
        />
      )}
    </div>
  );
}

interface ToolbarProps {
  summary: string;
  filter: Filter;
  onFilter: (filter: Filter) => void;
  /** Null if the screen is too narrow for a split diff. */
  split: boolean | null;
  onSplit: () => void;
  showFiles: boolean;
  onShowFiles: () => void;
  busy: boolean;
  onRefresh: () => void;
}

function Toolbar(props: ToolbarProps) {
  const { summary, filter, onFilter, split, onSplit, showFiles, onShowFiles, busy, onRefresh } = props;
  const { query, area } = filter;
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-1 border-b border-line bg-panel px-2 py-1">
      <p role="status" className="mr-auto px-1 text-xs text-dim">
        {summary}
      </p>
      <TextInput
        type="search"
        aria-label="Filter files"
        placeholder="Filter files"
        className="w-36! py-1!"
        value={query}
        onChange={(event) => onFilter({ query: event.target.value, area })}
      />
      <Select
        aria-label="Change type"
        className="w-auto! py-1!"
        value={area}
        onChange={(event) => onFilter({ query, area: event.target.value })}
      >
        <option value="">All changes</option>
        {areas.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </Select>
      <Button size="small" variant="quiet" className="lg:hidden" aria-expanded={showFiles} onClick={onShowFiles}>
        <ListTree size={14} aria-hidden /> Files
      </Button>
      {split !== null && (
        <Button size="small" variant="quiet" aria-pressed={split} onClick={onSplit}>
          {split ? <Columns2 size={14} aria-hidden /> : <Rows2 size={14} aria-hidden />} Split
        </Button>
      )}
      <Button size="small" variant="quiet" disabled={busy} onClick={onRefresh}>
        <RefreshCw size={14} aria-hidden className={clsx(busy && "animate-spin")} /> Refresh
      </Button>
    </div>
  );
}

function Warnings({
  loaded,
  diffs,
  fault,
}: {
  loaded: Loaded;
  diffs: ReadonlyMap<string, unknown>;
  fault: string | null;
}) {
  const missing = loaded.changes.files.filter(({ path, binary }) => !binary && !diffs.has(path));
  const lines = [
    ...(fault === null ? [] : [`This may be out of date: ${fault}`]),
    ...(loaded.changes.truncated ? ["Not all changed files are listed."] : []),
    ...(loaded.patch.truncated ? ["The changes are too large to show in full."] : []),
    ...(loaded.patch.truncated && missing.length > 0
      ? [
          `Not shown: ${missing
            .slice(0, 5)
            .map(({ path }) => path)
            .join(", ")}${missing.length > 5 ? " and more" : ""}.`,
        ]
      : []),
  ];
  if (lines.length === 0) return null;
  return (
    <p role="status" className="shrink-0 border-b border-line bg-alert-soft px-3 py-1 text-alert">
      {lines.join(" ")}
    </p>
  );
}

function filtered(files: readonly ChangedFileJson[], { query, area }: Filter): ChangedFileJson[] {
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
  const count = files.length === 1 ? "1 file" : `${files.length} files`;
  return `${count} against ${base}, +${added} -${removed}`;
}
