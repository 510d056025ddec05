/** A comment, and the forms that create one: below a line, or by line number. */
import { useId, useState } from "react";
import { Pencil, Trash2 } from "lucide-react";
import { Button, IconButton } from "../shared/ui/button.tsx";
import { Field, Form, Select, TextArea, TextInput } from "../shared/ui/field.tsx";
import { addComment, editComment, removeComments, type Comment, type DiffLine } from "./review.ts";
import type { FileDiffMetadata } from "@pierre/diffs";
import { Dialog } from "../shared/ui/dialog.tsx";
import { lineText } from "./use-changes.ts";

export function CommentCard({ session, comment }: { session: string; comment: Comment }) {
  const [editing, setEditing] = useState(false);
  const where = `${comment.path}:${comment.line}`;
  if (editing) {
    return (
      <CommentForm
        label={`Comment on ${where}`}
        start={comment.text}
        onCancel={() => setEditing(false)}
        onSave={(text) => {
          editComment(session, comment.id, text);
          setEditing(false);
        }}
      />
    );
  }
  return (
    <div className="m-2 flex items-start gap-1 rounded-md border border-line bg-raised p-2 font-sans text-sm">
      <p className="min-w-0 flex-1 break-words whitespace-pre-wrap">{comment.text}</p>
      <IconButton label={`Edit comment on ${where}`} onClick={() => setEditing(true)} Sign={Pencil} signSize={14} />
      <IconButton
        label={`Delete comment on ${where}`}
        onClick={() => removeComments(session, new Set([comment.id]))}
        Sign={Trash2}
        signSize={14}
      />
    </div>
  );
}

interface CommentFormProps {
  label: string;
  start?: string;
  onCancel: () => void;
  onSave: (text: string) => void;
}

export function CommentForm({ label, start = "", onCancel, onSave }: CommentFormProps) {
  const [text, setText] = useState(start);
  const id = useId();
  return (
    <Form
      className="m-2 flex flex-col gap-2 rounded-md border border-line bg-raised p-2 font-sans text-sm"
      onSubmit={() => text.trim() !== "" && onSave(text.trim())}
    >
      <label htmlFor={id} className="text-xs break-all text-dim">
        {label}
      </label>
      <TextArea
        id={id}
        ref={focusOnce}
        rows={3}
        className="resize-y"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onCancel={onCancel}
      />
      <div className="flex justify-end gap-2">
        <Button size="small" onClick={onCancel}>
          Cancel
        </Button>
        <Button size="small" type="submit" variant="primary" disabled={text.trim() === ""}>
          Save comment
        </Button>
      </div>
    </Form>
  );
}

function focusOnce(area: HTMLTextAreaElement | null): void {
  area?.focus({ preventScroll: true });
}

interface LineDialogProps {
  session: string;
  path: string;
  diff: FileDiffMetadata;
  onClose: () => void;
}

export function LineDialog({ session, path, diff, onClose }: LineDialogProps) {
  const first = diff.hunks[0];
  const [side, setSide] = useState<DiffLine["side"]>(diff.type === "deleted" ? "deletions" : "additions");
  const [line, setLine] = useState(String((side === "deletions" ? first?.deletionStart : first?.additionStart) ?? 1));
  const [text, setText] = useState("");
  const quote = lineText(diff, side, Number(line));
  const save = (): void => {
    if (quote === null || text.trim() === "") return;
    addComment(session, { path, side, line: Number(line), quote }, text.trim());
    onClose();
  };
  return (
    <Dialog open onClose={onClose} title="Comment on a line" description={<span className="font-mono">{path}</span>}>
      <Form className="flex flex-col gap-3" onSubmit={save}>
        <div className="grid grid-cols-2 gap-3">
          <Field label="Line" fault={quote === null ? "This line is not in the diff." : null}>
            <TextInput inputMode="numeric" value={line} onChange={(event) => setLine(event.target.value)} />
          </Field>
          <Field label="Version">
            <Select value={side} onChange={(event) => setSide(event.target.value as DiffLine["side"])}>
              <option value="additions">current</option>
              <option value="deletions">before the change</option>
            </Select>
          </Field>
        </div>
        {quote !== null && (
          <p className="truncate rounded-md bg-sunken px-2 py-1 font-mono text-xs">{quote === "" ? " " : quote}</p>
        )}
        <Field label="Comment">
          <TextArea rows={3} value={text} onChange={(event) => setText(event.target.value)} />
        </Field>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" disabled={quote === null || text.trim() === ""}>
            Save comment
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
