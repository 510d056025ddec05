/** A comment below its line or in the list, and the form that makes one. */
import { useId, useState } from "react";
import { Pencil, Trash2 } from "lucide-react";
import { Button, IconButton } from "../shared/ui/button.tsx";
import { inputStyles, Field, Select, TextInput } from "../shared/ui/field.tsx";
import { clsx } from "clsx";
import type { Comment, Place } from "./review.ts";
import type { FileDiffMetadata } from "@pierre/diffs";
import { Dialog } from "../shared/ui/dialog.tsx";
import { lineText } from "./diff-pane.tsx";

export interface CommentCardProps {
  comment: Comment;
  onEdit: (text: string) => void;
  onRemove: () => void;
}

export function CommentCard({ comment, onEdit, onRemove }: CommentCardProps) {
  const [editing, setEditing] = useState(false);
  const where = `${comment.path}:${comment.line}`;
  if (editing) {
    return (
      <CommentForm
        label={`Comment on ${where}`}
        start={comment.text}
        onCancel={() => setEditing(false)}
        onKeep={(text) => {
          onEdit(text);
          setEditing(false);
        }}
      />
    );
  }
  return (
    <div className="m-2 flex items-start gap-1 rounded-md border border-line bg-raised p-2 font-sans text-sm">
      <p className="min-w-0 flex-1 break-words whitespace-pre-wrap">{comment.text}</p>
      <IconButton label={`Edit the comment on ${where}`} onClick={() => setEditing(true)}>
        <Pencil size={14} aria-hidden />
      </IconButton>
      <IconButton label={`Remove the comment on ${where}`} onClick={onRemove}>
        <Trash2 size={14} aria-hidden />
      </IconButton>
    </div>
  );
}

export interface CommentFormProps {
  label: string;
  start?: string;
  onCancel: () => void;
  onKeep: (text: string) => void;
}

export function CommentForm({ label, start = "", onCancel, onKeep }: CommentFormProps) {
  const [text, setText] = useState(start);
  const id = useId();
  const keep = (): void => {
    if (text.trim() !== "") onKeep(text.trim());
  };
  return (
    <form
      className="m-2 flex flex-col gap-2 rounded-md border border-line bg-raised p-2 font-sans text-sm"
      onSubmit={(event) => {
        event.preventDefault();
        keep();
      }}
    >
      <label htmlFor={id} className="text-xs break-all text-dim">
        {label}
      </label>
      <textarea
        id={id}
        ref={focusOnce}
        rows={3}
        className={clsx(inputStyles, "resize-y")}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onCancel();
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) keep();
        }}
      />
      <div className="flex justify-end gap-2">
        <Button size="small" onClick={onCancel}>
          Cancel
        </Button>
        <Button size="small" type="submit" variant="primary" disabled={text.trim() === ""}>
          Keep the comment
        </Button>
      </div>
    </form>
  );
}

function focusOnce(area: HTMLTextAreaElement | null): void {
  area?.focus({ preventScroll: true });
}

interface LineDialogProps {
  path: string;
  diff: FileDiffMetadata;
  onAdd: (place: Place, text: string) => void;
  onClose: () => void;
}

export function LineDialog({ path, diff, onAdd, onClose }: LineDialogProps) {
  const first = diff.hunks[0];
  const [side, setSide] = useState<Place["side"]>(diff.type === "deleted" ? "deletions" : "additions");
  const [line, setLine] = useState(String((side === "deletions" ? first?.deletionStart : first?.additionStart) ?? 1));
  const [text, setText] = useState("");
  const quote = lineText(diff, side, Number(line));
  const keep = (): void => {
    if (quote === null || text.trim() === "") return;
    onAdd({ path, side, line: Number(line), quote }, text.trim());
    onClose();
  };
  return (
    <Dialog open onClose={onClose} title="Comment on a line" description={<span className="font-mono">{path}</span>}>
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          keep();
        }}
      >
        <div className="grid grid-cols-2 gap-3">
          <Field label="Line" fault={quote === null ? "This line is not in the diff." : null}>
            {(ids) => (
              <TextInput {...ids} inputMode="numeric" value={line} onChange={(event) => setLine(event.target.value)} />
            )}
          </Field>
          <Field label="Of the file">
            {(ids) => (
              <Select {...ids} value={side} onChange={(event) => setSide(event.target.value as Place["side"])}>
                <option value="additions">as it is now</option>
                <option value="deletions">as it was</option>
              </Select>
            )}
          </Field>
        </div>
        {quote !== null && (
          <p className="truncate rounded-md bg-sunken px-2 py-1 font-mono text-xs">{quote === "" ? " " : quote}</p>
        )}
        <Field label="Comment">
          {(ids) => (
            <textarea
              {...ids}
              rows={3}
              className={inputStyles}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          )}
        </Field>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" disabled={quote === null || text.trim() === ""}>
            Keep the comment
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
