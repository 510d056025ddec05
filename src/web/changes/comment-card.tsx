/** A comment below its line or in the list, and the form that makes one. */
import { useId, useState } from "react";
import { Pencil, Trash2 } from "lucide-react";
import { Button, IconButton } from "../shared/ui/button.tsx";
import { inputLook } from "../shared/ui/field.tsx";
import { classes } from "../shared/ui/classes.ts";
import type { Comment } from "./review.ts";

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
        className={classes(inputLook, "resize-y")}
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
