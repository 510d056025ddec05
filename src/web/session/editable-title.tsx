/** The title, changed where it stands: Enter keeps, Escape leaves it. */
import { useState } from "react";
import { Pencil } from "lucide-react";
import type { SessionJson } from "../../contract/wire.ts";
import { call, sentenceOf } from "../shared/data/api.ts";
import { useMay } from "../shared/data/live.ts";
import { IconButton } from "../shared/ui/button.tsx";
import { TextInput } from "../shared/ui/field.tsx";
import { say } from "../shared/ui/toast.tsx";

export function EditableTitle({ session }: { session: SessionJson }) {
  const [draft, setDraft] = useState<string | null>(null);
  const may = useMay("all");
  const keep = async (): Promise<void> => {
    const title = draft?.trim() ?? "";
    if (title !== "" && title !== session.title) {
      try {
        await call("rename", { params: { id: session.id }, body: { title } });
      } catch (error) {
        say(`The title was not changed: ${sentenceOf(error)}`, "fault");
        return;
      }
    }
    setDraft(null);
  };
  if (draft === null) {
    return (
      <div className="flex min-w-0 flex-1 items-center gap-1">
        <h1 className="min-w-0 truncate text-base font-semibold" title={session.title}>
          {session.title}
        </h1>
        {may && (
          <IconButton
            label="Rename in place"
            className="shrink-0 max-sm:hidden"
            onClick={() => setDraft(session.title)}
          >
            <Pencil size={14} aria-hidden />
          </IconButton>
        )}
      </div>
    );
  }
  return (
    <form
      className="min-w-0 flex-1"
      onSubmit={(event) => {
        event.preventDefault();
        void keep();
      }}
    >
      <TextInput
        aria-label="Title"
        value={draft}
        maxLength={200}
        ref={focusOnce}
        onChange={(event) => setDraft(event.target.value)}
        onBlur={() => void keep()}
        onKeyDown={(event) => {
          if (event.key === "Escape") setDraft(null);
        }}
      />
    </form>
  );
}

function focusOnce(input: HTMLInputElement | null): void {
  input?.select();
}
