import { Brain, ChevronRight, Terminal } from "lucide-react";
import type { ReactNode } from "react";
import { CopyButton } from "../../shared/ui/code-text.tsx";
import { plainOutput, safeText } from "../inert.ts";
import { Markdown } from "../markdown.tsx";
import { Shortened } from "../shortened.tsx";
import { useDisclosure } from "../chat-context.ts";

/** About ten screens of prose. */
const firstPart = 24_000;

export function TextRow({ text, streaming }: { text: string; streaming: boolean }) {
  if (text.trim() === "") return null;
  return (
    <article aria-label="Answer" className="group/row relative mt-2 max-w-[52rem] pr-9">
      <Shortened text={text} step={firstPart} fromEnd={streaming}>
        {(part) => <Markdown text={part} streaming={streaming} />}
      </Shortened>
      <div className="absolute top-0 right-0 opacity-0 group-focus-within/row:opacity-100 group-hover/row:opacity-100 pointer-coarse:opacity-100">
        <CopyButton label="Copy answer" text={text} />
      </div>
    </article>
  );
}

export interface ThoughtRowProps {
  name: string;
  text: string;
  streaming: boolean;
  open: boolean;
}

export function ThoughtRow({ name, text, streaming, open }: ThoughtRowProps) {
  const first = safeText(text.slice(0, 300)).replaceAll(/\s+/g, " ").trim().replaceAll("*", "");
  return (
    <Disclosure
      name={name}
      open={open}
      summary={
        <>
          <Brain size={14} aria-hidden />
          <span className="font-medium">{streaming ? "Thinking" : "Thought"}</span>
          <span className="min-w-0 flex-1 truncate">{first}</span>
        </>
      }
    >
      <Shortened text={text} step={firstPart} fromEnd={streaming}>
        {(part) => <p className="max-w-[52rem] break-words whitespace-pre-wrap text-dim">{safeText(part)}</p>}
      </Shortened>
    </Disclosure>
  );
}

export function WorkspaceRow({ name, text, open }: { name: string; text: string; open: boolean }) {
  const output = plainOutput(text);
  const last = output.trimEnd().split("\n").at(-1) ?? "";
  return (
    <Disclosure
      name={name}
      open={open}
      summary={
        <>
          <Terminal size={14} aria-hidden />
          <span className="font-medium">Preparing the worktree</span>
          <span className="min-w-0 flex-1 truncate font-mono">{last}</span>
        </>
      }
    >
      <Output text={output} />
    </Disclosure>
  );
}

export function Output({ text }: { text: string }) {
  return (
    <Shortened text={text} step={8_000}>
      {(part) => (
        <pre
          tabIndex={0}
          aria-label="Output"
          className="max-h-96 overflow-auto rounded-md border border-line bg-sunken p-2 font-mono text-xs leading-5 whitespace-pre-wrap break-words"
        >
          {part}
        </pre>
      )}
    </Shortened>
  );
}

export interface DisclosureProps {
  /** Unique in the session. */
  name: string;
  summary: ReactNode;
  children: ReactNode;
  /** Opens it when it becomes true: a search matched inside. */
  open: boolean;
}

export function Disclosure({ name, summary, children, open }: DisclosureProps) {
  const { isOpen, onClick } = useDisclosure(name, open);
  return (
    <details open={isOpen} className="group/disclosure mt-2">
      <summary
        onClick={onClick}
        className="flex min-h-7 cursor-pointer list-none items-center gap-1.5 rounded text-xs text-dim select-none hover:text-text pointer-coarse:min-h-10"
      >
        <ChevronRight size={14} aria-hidden className="shrink-0 transition-transform group-open/disclosure:rotate-90" />
        {summary}
      </summary>
      <div className="mt-1 pl-5">{children}</div>
    </details>
  );
}
