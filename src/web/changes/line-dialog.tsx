/** Names a line by its number: for the keyboard, for screen readers, and for lines that are hard to hit. */
import { useState } from "react";
import type { FileDiffMetadata } from "@pierre/diffs";
import { Button } from "../shared/ui/button.tsx";
import { Dialog } from "../shared/ui/dialog.tsx";
import { Field, inputLook, Select, TextInput } from "../shared/ui/field.tsx";
import { lineText } from "./patch-files.ts";
import type { Place } from "./review.ts";

export interface LineDialogProps {
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
              className={inputLook}
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
