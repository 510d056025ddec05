/** All diffs in one scroll area, rendered only where visible. Clicking a line number opens a comment there. */
import { useMemo, type Ref } from "react";
import {
  type CodeViewDiffItem,
  type DiffLineAnnotation,
  type FileDiffMetadata,
  registerCustomCSSVariableTheme,
} from "@pierre/diffs";
import { CodeView, type CodeViewHandle } from "@pierre/diffs/react";
import { MessageSquarePlus } from "lucide-react";
import type { ChangedFileJson } from "../../contract/worktree.ts";
import { visibleText } from "../shared/ui/safe-text.ts";
import { Button } from "../shared/ui/button.tsx";
import { CommentCard, CommentForm } from "./comment-card.tsx";
import { Counts, StatusLetter } from "./file-list.tsx";
import { addComment, type Comment, type DiffLine } from "./review.ts";
import { lineText } from "./use-changes.ts";

const themeName = "holdfast";

registerCustomCSSVariableTheme(themeName, {
  foreground: "var(--color-text)",
  background: "var(--color-panel)",
  "token-constant": "var(--color-busy)",
  "token-string": "var(--color-good)",
  "token-comment": "var(--color-dim)",
  "token-keyword": "var(--color-accent)",
  "token-parameter": "var(--color-text)",
  "token-function": "var(--color-alert)",
  "token-string-expression": "var(--color-good)",
  "token-punctuation": "var(--color-dim)",
  "token-link": "var(--color-accent)",
});

/** Set on an element around the diffs; their style sheet reads them. */
const diffStyles = {
  "--diffs-font-family": "var(--font-mono)",
  "--diffs-font-size": "12px",
  "--diffs-line-height": "18px",
  "--diffs-addition-color-override": "var(--color-good)",
  "--diffs-deletion-color-override": "var(--color-danger)",
  "--diffs-modified-color-override": "var(--color-busy)",
  // Weaker than the default, on which colored text is hard to read.
  "--diffs-bg-addition-emphasis-override": "color-mix(in srgb, var(--color-good) 8%, transparent)",
  "--diffs-bg-deletion-emphasis-override": "color-mix(in srgb, var(--color-danger) 8%, transparent)",
  "--diffs-bg-separator-override": "var(--color-sunken)",
  "--diffs-fg-number-override": "var(--color-dim)",
  "--diffs-fg-number-addition-override": "var(--color-good)",
  "--diffs-fg-number-deletion-override": "var(--color-danger)",
} as React.CSSProperties;

/** Larger files are shown without syntax colors: coloring them would block the page. */
const maxColored = 60_000;

/** Below a line: a comment, or the form for one. */
type Note = { note: "comment"; comment: Comment } | { note: "form"; line: DiffLine };
export type DiffHandle = CodeViewHandle<Note, undefined>;

interface DiffPaneProps {
  session: string;
  files: readonly ChangedFileJson[];
  diffs: ReadonlyMap<string, FileDiffMetadata>;
  split: boolean;
  comments: readonly Comment[];
  /** The line where a comment is being written. */
  open: DiffLine | null;
  onOpen: (line: DiffLine | null) => void;
  onCommentFile: (path: string) => void;
  ref: Ref<DiffHandle>;
}

export function DiffPane({ ref, ...props }: DiffPaneProps) {
  const { session, files, diffs, split, comments, open, onOpen } = props;
  const byPath = useMemo(() => new Map(files.map((file) => [file.path, file])), [files]);
  const items = useMemo(
    () =>
      files.flatMap((file): CodeViewDiffItem<Note>[] => {
        const fileDiff = diffs.get(file.path);
        if (fileDiff === undefined) return [];
        const annotations = notesOf(file.path, fileDiff, comments, open);
        return [
          { id: file.path, type: "diff", fileDiff, annotations, version: versionOf(file, fileDiff, annotations) },
        ];
      }),
    [files, diffs, comments, open],
  );

  const openAt = (path: string, side: DiffLine["side"], line: number): void => {
    const diff = diffs.get(path);
    const quote = diff === undefined ? null : lineText(diff, side, line);
    if (quote !== null) onOpen({ path, side, line, quote });
  };
  return (
    <CodeView<Note>
      ref={ref}
      className="absolute inset-0 overflow-auto bg-panel"
      style={diffStyles}
      items={items}
      disableWorkerPool
      options={{
        theme: themeName,
        preferredHighlighter: "shiki-js",
        diffStyle: split ? "split" : "unified",
        overflow: "scroll",
        tokenizeMaxLength: maxColored,
        lineDiffType: "word",
        hunkSeparators: "line-info",
        stickyHeaders: true,
        // The height of the header below, so that files not yet rendered take their real space.
        itemMetrics: { diffHeaderHeight: 44, lineHeight: 18 },
        layout: { paddingTop: 0, paddingBottom: 16, gap: 8 },
        enableGutterUtility: true,
        onPostRender: reachSideways,
        onGutterUtilityClick: (range, context) => openAt(context.item.id, range.side ?? "additions", range.start),
        onLineNumberClick: (line, context) => {
          if (line.type === "diff-line") openAt(context.item.id, line.annotationSide, line.lineNumber);
        },
      }}
      renderCustomHeader={(item) => {
        const file = byPath.get(item.id);
        return file === undefined ? null : <Header file={file} onComment={() => props.onCommentFile(file.path)} />;
      }}
      renderAnnotation={(...[{ metadata: note }]) =>
        note.note === "comment" ? (
          <CommentCard session={session} comment={note.comment} />
        ) : (
          <CommentForm
            label={`Comment on ${note.line.path}:${note.line.line}`}
            onCancel={() => onOpen(null)}
            onSave={(text) => {
              addComment(session, note.line, text);
              onOpen(null);
            }}
          />
        )
      }
    />
  );
}

/** Makes wide lines scrollable with the arrow keys in every browser. */
function reachSideways(node: HTMLElement): void {
  for (const code of node.shadowRoot?.querySelectorAll<HTMLElement>("code[data-code]") ?? []) {
    if (code.scrollWidth > code.clientWidth) code.tabIndex = 0;
    else code.removeAttribute("tabindex");
  }
}

const serials = new WeakMap<FileDiffMetadata, number>();
let lastSerial = 0;

/** A different number whenever the file must be rendered again. */
function versionOf(file: ChangedFileJson, diff: FileDiffMetadata, notes: readonly unknown[]): number {
  const serial = serials.get(diff) ?? ++lastSerial;
  serials.set(diff, serial);
  let hash = serial;
  for (const letter of JSON.stringify([file, notes])) hash = (Math.imul(hash, 31) + letter.codePointAt(0)!) | 0;
  return hash;
}

function notesOf(
  path: string,
  diff: FileDiffMetadata,
  comments: readonly Comment[],
  open: DiffLine | null,
): DiffLineAnnotation<Note>[] {
  const own = comments.filter(
    (comment) => comment.path === path && lineText(diff, comment.side, comment.line) !== null,
  );
  const notes: DiffLineAnnotation<Note>[] = own.map((comment) => ({
    side: comment.side,
    lineNumber: comment.line,
    metadata: { note: "comment", comment },
  }));
  if (open?.path === path)
    notes.push({ side: open.side, lineNumber: open.line, metadata: { note: "form", line: open } });
  return notes;
}

function Header({ file, onComment }: { file: ChangedFileJson; onComment: () => void }) {
  return (
    <div className="flex h-11 w-full min-w-0 items-center gap-2 border-y border-line bg-sunken px-3 font-sans text-sm">
      <StatusLetter status={file.status} />
      <h2 className="min-w-0 flex-1 truncate font-mono text-xs" title={file.path}>
        {file.oldPath !== null && file.oldPath !== file.path && (
          <span className="text-dim">{visibleText(file.oldPath)} → </span>
        )}
        {visibleText(file.path)}
      </h2>
      <span className="hidden shrink-0 text-xs text-dim sm:inline">{file.areas.join(", ")}</span>
      <Counts file={file} />
      {!file.binary && (
        <Button size="small" variant="quiet" aria-label={`Comment on ${file.path}`} onClick={onComment}>
          <MessageSquarePlus size={14} aria-hidden />
        </Button>
      )}
    </div>
  );
}
