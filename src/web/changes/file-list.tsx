/** The changed files: what happened to each, where, and by how much. */
import type { ChangedFileJson } from "../../contract/worktree.ts";
import { visibleText } from "../shared/ui/safe-text.ts";
import { clsx } from "clsx";

const letters: Record<ChangedFileJson["status"], { letter: string; tone: string }> = {
  added: { letter: "A", tone: "text-good" },
  modified: { letter: "M", tone: "text-busy" },
  deleted: { letter: "D", tone: "text-danger" },
  renamed: { letter: "R", tone: "text-busy" },
  untracked: { letter: "U", tone: "text-good" },
  conflicted: { letter: "C", tone: "text-alert" },
};

export interface FileListProps {
  files: readonly ChangedFileJson[];
  comments: ReadonlyMap<string, number>;
  onPick: (path: string) => void;
}

export function FileList({ files, comments, onPick }: FileListProps) {
  return (
    <ul aria-label="Changed files">
      {files.map((file) => (
        <li key={file.path}>
          <button
            type="button"
            className="flex w-full min-w-0 items-start gap-2 rounded-md px-2 py-1 text-left hover:bg-sunken pointer-coarse:py-2.5"
            onClick={() => onPick(file.path)}
          >
            <StatusLetter status={file.status} />
            <span className="min-w-0 flex-1">
              <span className="block font-mono text-xs break-all">{visibleText(file.path)}</span>
              <span className="block text-xs text-dim">{file.areas.join(", ")}</span>
            </span>
            {(comments.get(file.path) ?? 0) > 0 && (
              <span className="shrink-0 rounded-full bg-accent-soft px-1.5 text-xs text-accent">
                {comments.get(file.path)}
                <span className="sr-only"> comments</span>
              </span>
            )}
            <Counts file={file} />
          </button>
        </li>
      ))}
    </ul>
  );
}

export function StatusLetter({ status }: { status: ChangedFileJson["status"] }) {
  const { letter, tone } = letters[status];
  return (
    <span className={clsx("w-3 shrink-0 text-center font-mono text-xs font-semibold", tone)} title={status}>
      <span aria-hidden>{letter}</span>
      <span className="sr-only">{status}</span>
    </span>
  );
}

export function Counts({ file }: { file: ChangedFileJson }) {
  if (file.binary) return <span className="shrink-0 text-xs text-dim">binary</span>;
  return (
    <span className="shrink-0 text-xs tabular-nums">
      <span className="text-good">+{file.additions}</span> <span className="text-danger">-{file.deletions}</span>
    </span>
  );
}
