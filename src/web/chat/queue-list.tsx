/** Queued prompts: they can still be edited, moved and withdrawn. */
import { memo, useState } from "react";
import { ArrowDown, ArrowUp, Paperclip, Pencil, Trash2 } from "lucide-react";
import type { PromptEditRequest } from "../../contract/prompt.ts";
import type { PromptItem } from "../../contract/transcript.ts";
import { call } from "../shared/data/api.ts";
import { Button, IconButton } from "../shared/ui/button.tsx";
import { Form, TextArea } from "../shared/ui/field.tsx";
import { countOf } from "../shared/ui/safe-text.ts";
import { useAction } from "../shared/ui/toast.tsx";
import { useChat } from "./chat-context.ts";
import { safeText } from "./inert.ts";
import { shorten } from "../../model/text.ts";

export const QueueList = memo(function QueueList({ queue, why }: { queue: readonly PromptItem[]; why: string }) {
  const { session, closed } = useChat();
  const [editing, setEditing] = useState<string | null>(null);
  const { run } = useAction();
  const edit = (promptId: string, body: PromptEditRequest): Promise<boolean> =>
    run(() => call("promptEdit", { params: { id: session, prompt: promptId }, body }));
  if (queue.length === 0) return null;
  return (
    <section aria-label="Queued prompts" className="mb-2 rounded-lg border border-line bg-panel">
      <p className="px-3 pt-2 text-xs text-dim">
        {countOf(queue.length, "queued prompt")}. {why}
      </p>
      <ol className="max-h-[30vh] overflow-y-auto px-1 pb-1">
        {queue.map((prompt, index) => (
          <li key={prompt.promptId} className="flex items-start gap-1 rounded px-2 py-0.5">
            {editing === prompt.promptId ? (
              <EditPrompt
                text={prompt.text}
                onCancel={() => setEditing(null)}
                onSave={(text) => void edit(prompt.promptId, { text }).then((done) => done && setEditing(null))}
              />
            ) : (
              <>
                <span className="line-clamp-3 min-w-0 flex-1 py-1.5 break-words pointer-coarse:py-2.5 whitespace-pre-wrap">
                  {safeText(shorten(prompt.text, 1_000))}
                  {prompt.attachments.length > 0 && (
                    <span className="ml-2 inline-flex items-center gap-0.5 text-xs text-dim">
                      <Paperclip size={12} aria-hidden /> {prompt.attachments.length}
                    </span>
                  )}
                  {prompt.reason !== null && (
                    <span className="block text-xs text-alert">{safeText(prompt.reason)}</span>
                  )}
                </span>
                <IconButton
                  label="Move up"
                  disabled={closed !== null || index === 0}
                  onClick={() => void edit(prompt.promptId, { position: index - 1 })}
                  Sign={ArrowUp}
                  signSize={14}
                />
                <IconButton
                  label="Move down"
                  disabled={closed !== null || index === queue.length - 1}
                  onClick={() => void edit(prompt.promptId, { position: index + 1 })}
                  Sign={ArrowDown}
                  signSize={14}
                />
                <IconButton
                  label={prompt.cut === true ? "Too long to edit here" : "Edit"}
                  disabled={closed !== null || prompt.cut === true}
                  onClick={() => setEditing(prompt.promptId)}
                  Sign={Pencil}
                  signSize={14}
                />
                <IconButton
                  label="Remove"
                  disabled={closed !== null}
                  onClick={() => void edit(prompt.promptId, { withdraw: true })}
                  Sign={Trash2}
                  signSize={14}
                />
              </>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
});

interface EditPromptProps {
  text: string;
  onSave: (text: string) => void;
  onCancel: () => void;
}

function EditPrompt({ text, onSave, onCancel }: EditPromptProps) {
  const [value, setValue] = useState(text);
  return (
    <Form className="flex min-w-0 flex-1 flex-col gap-1 py-1" onSubmit={() => value.trim() !== "" && onSave(value)}>
      <TextArea
        // The user pressed Edit for this.
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- as above
        autoFocus
        aria-label="Queued prompt"
        rows={Math.min(8, value.split("\n").length + 1)}
        value={value}
        onChange={(event) => setValue(event.target.value)}
        onCancel={onCancel}
      />
      <span className="flex justify-end gap-2">
        <Button size="small" onClick={onCancel}>
          Cancel
        </Button>
        <Button size="small" variant="primary" type="submit" disabled={value.trim() === ""}>
          Save
        </Button>
      </span>
    </Form>
  );
}
