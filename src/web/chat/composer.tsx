/** Where prompts are written: several lines, history, completion, images. */
import {
  memo,
  useId,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
  type Ref,
} from "react";
import { ImagePlus, SendHorizontal } from "lucide-react";
import { usePreference } from "../shared/data/preferences.ts";
import { Button, IconButton } from "../shared/ui/button.tsx";
import { clsx } from "clsx";
import { showToast } from "../shared/ui/toast.tsx";
import { useChat } from "./chat-context.ts";
import { CompletionList, tokenAt, useCompletions, type Completion } from "./completion.tsx";
import { setDraft, useDraft } from "./draft.ts";
import { ImageStrip, acceptedImages, imageError, readImage, type NewImage } from "./images.tsx";

export interface ComposerHandle {
  focus(): void;
}

export interface ComposerProps {
  /** Earlier prompts, newest first. */
  history: () => string[];
  commands: readonly unknown[] | null;
  placeholder: string;
  onSend: (text: string, images: NewImage[]) => void;
  /** Left of the send button: pickers, stop. */
  controls: ReactNode;
  ref: Ref<ComposerHandle>;
}

/** On touch screens Enter inserts a new line, as in other phone apps. */
const isTouch = matchMedia("(pointer: coarse)");

export const Composer = memo(function Composer(props: ComposerProps) {
  const { history, commands, placeholder, onSend, controls, ref } = props;
  const { session, closed } = useChat();
  const text = useDraft(session);
  const [images, setImages] = useState<NewImage[]>([]);
  const [caret, setCaret] = useState(0);
  const [dropping, setDropping] = useState(false);
  const [enter] = usePreference("enter");
  const area = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  /** Position in the history; -1 for the draft. */
  const back = useRef(-1);
  /** Where the caret belongs once this text is rendered. */
  const placed = useRef<{ text: string; at: number } | null>(null);
  const listId = useId();
  useImperativeHandle(ref, () => ({ focus: () => area.current?.focus() }));

  const token = useMemo(() => tokenAt(text, caret), [text, caret]);
  const offered = useCompletions(session, token, commands);
  const [dismissed, setDismissed] = useState<string | null>(null);
  const completions = text === dismissed ? none : offered;
  const [chosen, setChosen] = useState(0);
  const active = Math.min(chosen, completions.length - 1);

  const put = (next: string, at = next.length): void => {
    placed.current = { text: next, at };
    setDraft(session, next);
    setCaret(at);
  };
  // Together with the text: keys typed in between would land in the wrong place.
  useLayoutEffect(() => {
    const { text: put, at } = placed.current ?? { text: null, at: 0 };
    placed.current = null;
    if (put === text) area.current?.setSelectionRange(at, at);
  });
  const accept = (completion: Completion): void => {
    const before = text.slice(0, completion.from) + completion.insert;
    put(before + text.slice(caret).trimStart(), before.length);
    setChosen(0);
    area.current?.focus();
  };
  const attach = async (files: readonly File[]): Promise<void> => {
    let count = images.length;
    for (const file of files) {
      const fault = imageError(file, count);
      if (fault !== null) {
        showToast(fault, "fault");
        continue;
      }
      count += 1;
      // oxlint-disable-next-line no-await-in-loop -- in the order they were given
      const image = await readImage(file);
      setImages((before) => [...before, image]);
    }
  };
  const canSend = closed === null && (text.trim() !== "" || images.length > 0);
  const send = (): void => {
    if (!canSend) return;
    onSend(text.trim() === "" ? "See the attached image." : text, images);
    setImages([]);
    put("");
    back.current = -1;
    area.current?.focus();
  };

  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    // Enter that confirms an IME composition does not count.
    if (event.nativeEvent.isComposing) return;
    const completion = completions[active];
    if (completion !== undefined && pressInList(event, completion)) return event.preventDefault();
    if (event.key === "Enter" && !event.shiftKey && !event.altKey && enterSends(enter, event)) {
      event.preventDefault();
      return send();
    }
    if (event.key === "ArrowUp" || event.key === "ArrowDown") recall(event);
  };
  const pressInList = (event: KeyboardEvent, completion: Completion): boolean => {
    if (event.key === "ArrowDown") setChosen((active + 1) % completions.length);
    else if (event.key === "ArrowUp") setChosen((active - 1 + completions.length) % completions.length);
    else if (event.key === "Tab" || (event.key === "Enter" && !event.shiftKey)) accept(completion);
    else if (event.key === "Escape") setDismissed(text);
    else return false;
    return true;
  };
  const recall = (event: KeyboardEvent): void => {
    const past = history();
    const isShown = back.current >= 0 && text === past[back.current];
    if (text !== "" && !isShown) return;
    if (text === "") back.current = -1;
    const next = back.current + (event.key === "ArrowUp" ? 1 : -1);
    if (next >= past.length || next < -1) return;
    event.preventDefault();
    back.current = next;
    put(past[next] ?? "");
  };

  return (
    <div
      className={clsx(
        "relative rounded-xl border bg-panel focus-within:border-accent",
        dropping ? "border-accent bg-accent-soft" : "border-line-strong",
      )}
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes("Files")) return;
        event.preventDefault();
        setDropping(true);
      }}
      onDragLeave={() => setDropping(false)}
      onDrop={(event) => {
        setDropping(false);
        if (event.dataTransfer.files.length === 0) return;
        event.preventDefault();
        void attach([...event.dataTransfer.files]);
      }}
    >
      {completions.length > 0 && (
        <CompletionList id={listId} completions={completions} active={active} onAccept={accept} />
      )}
      <ImageStrip images={images} onRemove={(id) => setImages(images.filter((image) => image.id !== id))} />
      <textarea
        ref={area}
        value={text}
        disabled={closed !== null}
        rows={Math.min(10, text.split("\n", 10).length)}
        aria-label="Prompt"
        aria-autocomplete="list"
        {...(completions.length > 0 ? { "aria-controls": listId, "aria-activedescendant": `${listId}-${active}` } : {})}
        placeholder={closed ?? placeholder}
        onChange={(event) => {
          setDraft(session, event.target.value);
          setCaret(event.target.selectionStart);
          setChosen(0);
        }}
        onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
        onKeyDown={onKeyDown}
        onPaste={(event) => {
          const files = [...event.clipboardData.files].filter(({ type }) => type.startsWith("image/"));
          if (files.length === 0) return;
          event.preventDefault();
          void attach(files);
        }}
        className="field-sizing-content block max-h-[40dvh] min-h-10 w-full resize-none bg-transparent px-3 pt-2.5 pb-1 text-base outline-none placeholder:text-dim sm:text-sm"
      />
      <div className="flex items-center gap-2 px-2 pb-2">
        <div className="flex min-w-0 flex-1 items-center gap-1 sm:gap-2">
          <IconButton
            label="Attach images"
            disabled={closed !== null}
            onClick={() => picker.current?.click()}
            Sign={ImagePlus}
          />
          <input
            ref={picker}
            type="file"
            accept={acceptedImages}
            multiple
            hidden
            aria-label="Images"
            onChange={(event) => {
              // Cleared below, so that the same file can be chosen again.
              void attach([...(event.target.files ?? [])]);
              event.target.value = "";
            }}
          />
          {controls}
        </div>
        <Button variant="primary" disabled={!canSend} onClick={send} aria-label="Send">
          <SendHorizontal size={14} aria-hidden />
          <span className="hidden sm:inline">Send</span>
        </Button>
      </div>
    </div>
  );
});

const none: Completion[] = [];

function enterSends(preference: "auto" | "sends" | "newline", event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey) return true;
  return preference === "sends" || (preference === "auto" && !isTouch.matches);
}
