/** Completion at the caret: the agent's commands, or files of the worktree. */
import { useEffect, useMemo, useState, useRef } from "react";
import { call } from "../shared/data/api.ts";
import { safeText } from "./inert.ts";
import { shape, textIn } from "./tool-parts.ts";
import { clsx } from "clsx";

export interface Completion {
  /** Shown in the list. */
  label: string;
  note: string;
  /** Replaces the text from `from` to the caret. */
  insert: string;
  from: number;
}

type Token = { kind: "command" | "file"; query: string; from: number };

/** Longer than the pause between keystrokes. */
const typingMs = 120;
const shownFiles = 12;

export function tokenAt(text: string, caret: number): Token | null {
  const before = text.slice(0, caret);
  const command = /^\/([\w:.-]*)$/.exec(before);
  if (command !== null) return { kind: "command", query: command[1] ?? "", from: 0 };
  const file = /(?:^|\s)@([^\s@]*)$/.exec(before);
  if (file !== null) return { kind: "file", query: file[1] ?? "", from: caret - (file[1]?.length ?? 0) - 1 };
  return null;
}

export function commandsFor(query: string, commands: readonly unknown[] | null): Completion[] {
  const wanted = query.toLowerCase();
  return (commands ?? [])
    .map((command) => ({
      name: textIn(shape(command), "name") ?? "",
      note: textIn(shape(command), "description") ?? "",
    }))
    .filter(({ name }) => name !== "" && name.toLowerCase().includes(wanted))
    .sort((a, b) => Number(b.name.startsWith(wanted)) - Number(a.name.startsWith(wanted)))
    .slice(0, 50)
    .map(({ name, note }) => ({ label: `/${safeText(name)}`, note: safeText(note), insert: `/${name} `, from: 0 }));
}

export function useCompletions(
  session: string,
  token: Token | null,
  commands: readonly unknown[] | null,
): Completion[] {
  const query = token?.kind === "file" ? token.query : null;
  const [answer, setAnswer] = useState<{ query: string; files: string[] } | null>(null);
  useEffect(() => {
    if (query === null) return undefined;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      call("files", { params: { id: session }, query: { query, limit: shownFiles }, signal: abort.signal }).then(
        ({ files }) => setAnswer({ query, files }),
        // An error must not interrupt typing. An aborted call is followed by the next.
        () => abort.signal.aborted || setAnswer({ query, files: [] }),
      );
    }, typingMs);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [session, query]);
  return useMemo(() => {
    if (token === null) return [];
    if (token.kind === "command") return commandsFor(token.query, commands);
    // The last result stays until the next: the list must not flicker with each letter.
    return (answer?.files ?? []).map((path) => ({
      label: safeText(path),
      note: "",
      insert: `@${path} `,
      from: token.from,
    }));
  }, [token, commands, answer]);
}

interface CompletionListProps {
  id: string;
  completions: readonly Completion[];
  active: number;
  onAccept: (completion: Completion) => void;
}

/** Above the composer, which keeps the focus and handles the keys. */
export function CompletionList({ id, completions, active, onAccept }: CompletionListProps) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    list.current?.children[active]?.scrollIntoView({ block: "nearest" });
  }, [active]);
  return (
    <ul
      ref={list}
      id={id}
      role="listbox"
      aria-label="Completions"
      className="absolute right-0 bottom-full left-0 z-20 mb-1 max-h-64 overflow-y-auto rounded-lg border border-line bg-raised p-1 shadow-lg"
    >
      {completions.map((completion, index) => (
        <li
          key={completion.insert}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === active}
          // Before the composer loses focus.
          onPointerDown={(event) => {
            event.preventDefault();
            onAccept(completion);
          }}
          className={clsx(
            "flex cursor-default items-baseline gap-3 rounded px-2 py-1 pointer-coarse:py-2.5",
            index === active && "bg-accent-soft",
          )}
        >
          <span className="font-mono text-[13px] break-all">{completion.label}</span>
          <span className="min-w-0 truncate text-xs text-dim">{completion.note}</span>
        </li>
      ))}
    </ul>
  );
}
