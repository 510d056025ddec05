/** A tool call: what it does, its state, and its result. */
import { useState } from "react";
import {
  CircleCheck,
  CircleDashed,
  CircleX,
  FileText,
  Globe,
  LoaderCircle,
  Pencil,
  Search,
  Terminal,
  Wrench,
  type LucideIcon,
} from "lucide-react";
import type { ToolItem } from "../../../contract/transcript.ts";
import { call } from "../../shared/data/api.ts";
import { Button } from "../../shared/ui/button.tsx";
import { clsx } from "clsx";
import { useAction } from "../../shared/ui/toast.tsx";
import { useChat, useDisclosure } from "../chat-context.ts";
import { CopyButton } from "../../shared/ui/code-text.tsx";
import { safeText } from "../inert.ts";
import { partsOf, type ToolParts } from "../tool-parts.ts";
import { ToolDiff } from "./tool-diff.tsx";
import { Disclosure, Output } from "./text-row.tsx";

export function ToolCard({ item, open }: { item: ToolItem; open: boolean }) {
  const [full, setFull] = useState<{ of: ToolItem; item: ToolItem } | null>(null);
  const shown = full?.of === item ? full.item : item;
  const parts = partsOf(shown);
  const title = safeText(shown.title ?? parts.command ?? shown.kind ?? "Tool call");
  // Opens automatically if it fails or changes files.
  const disclosure = useDisclosure(item.key, open || hasFailed(shown, parts.exitCode) || parts.diffs.length > 0);
  return (
    <article aria-label={`Tool: ${title}`} className="mt-2 rounded-lg border border-line bg-panel">
      <details open={disclosure.isOpen} className="group/card">
        <summary
          onClick={disclosure.onClick}
          className="flex min-h-9 cursor-pointer list-none items-center gap-2 px-2.5 py-1 text-[13px] select-none pointer-coarse:min-h-11"
        >
          <KindSign kind={shown.kind} />
          <span className="min-w-0 flex-1 truncate font-mono">{title.split("\n", 1)}</span>
          <ToolState item={shown} parts={parts} />
        </summary>
        <div className="flex flex-col gap-2 border-t border-line p-2.5">
          <Body item={shown} parts={parts} open={open} title={title} />
          {shown.cut === true && (
            <ShowAll item={shown} onLoaded={(complete) => setFull({ of: item, item: complete })} />
          )}
        </div>
      </details>
    </article>
  );
}

function Body({ item, parts, open, title }: { item: ToolItem; parts: ToolParts; open: boolean; title: string }) {
  const { command, output, diffs, paths, input } = parts;
  const { workspacePath } = useChat();
  const isEmpty = command === null && output === "" && diffs.length === 0 && paths.length === 0 && input === null;
  return (
    <>
      {title.includes("\n") && command === null && <Output text={title} />}
      {command !== null && (
        <div className="flex items-start gap-1">
          <pre
            tabIndex={0}
            aria-label="Command"
            className="min-w-0 flex-1 overflow-x-auto font-mono text-xs leading-5 whitespace-pre-wrap"
          >
            <span aria-hidden className="text-dim select-none">
              ${" "}
            </span>
            {safeText(command)}
          </pre>
          <CopyButton label="Copy command" text={command} />
        </div>
      )}
      {paths.length > 0 && diffs.length === 0 && (
        <ul aria-label="Files" className="flex flex-col gap-0.5 font-mono text-xs text-dim">
          {paths.slice(0, 50).map((path) => (
            <li key={path} className="break-all">
              {safeText(within(workspacePath, path))}
            </li>
          ))}
          {paths.length > 50 && <li>and {paths.length - 50} more</li>}
        </ul>
      )}
      {diffs.map((diff) => (
        <ToolDiff key={diff.path} diff={diff} path={safeText(within(workspacePath, diff.path))} />
      ))}
      {output !== "" && <Output text={output} />}
      {input !== null && (
        <Disclosure name={`${item.key} input`} open={open} summary="Raw input">
          <Output text={input} />
        </Disclosure>
      )}
      {isEmpty && <p className="text-xs text-dim">{item.abandoned ? "No further updates." : "No details yet."}</p>}
    </>
  );
}

function ToolState({ item, parts }: { item: ToolItem; parts: ToolParts }) {
  const { Sign, tone, text } = stateOf(item, parts);
  return (
    <span className={clsx("flex shrink-0 items-center gap-1 text-xs whitespace-nowrap", tone)}>
      <span aria-hidden>
        <Sign size={14} className={clsx(text === "running" && "animate-spin")} />
      </span>
      {text}
    </span>
  );
}

function stateOf(item: ToolItem, { exitCode, signal }: ToolParts): { Sign: LucideIcon; tone: string; text: string } {
  if (item.abandoned) return { Sign: CircleDashed, tone: "text-dim", text: "not finished" };
  const code = exitCode === null ? null : `exit ${exitCode}`;
  if (hasFailed(item, exitCode)) {
    const text = signal !== null ? `killed by ${signal}` : exitCode === 0 ? "failed" : (code ?? "failed");
    return { Sign: CircleX, tone: "text-danger", text };
  }
  if (item.status === "completed") return { Sign: CircleCheck, tone: "text-good", text: code ?? "done" };
  return { Sign: LoaderCircle, tone: "text-busy", text: item.status === "pending" ? "pending" : "running" };
}

function hasFailed({ status }: ToolItem, exitCode: number | null): boolean {
  return status === "failed" || (exitCode !== null && exitCode !== 0);
}

const signs: Record<string, LucideIcon> = {
  execute: Terminal,
  edit: Pencil,
  delete: Pencil,
  move: Pencil,
  read: FileText,
  search: Search,
  fetch: Globe,
};

function KindSign({ kind }: { kind: string | null }) {
  const Sign = signs[kind ?? ""] ?? Wrench;
  return (
    <span title={kind ?? "tool"} className="text-dim">
      <Sign size={14} aria-hidden />
    </span>
  );
}

/** The transcript shortens long fields; the original events have them in full. */
function ShowAll({ item, onLoaded }: { item: ToolItem; onLoaded: (item: ToolItem) => void }) {
  const { session } = useChat();
  const { run } = useAction();
  const load = () =>
    run(async () => {
      let full: ToolItem = item;
      for (const [field, seq] of Object.entries(item.whole)) {
        // oxlint-disable-next-line no-await-in-loop -- at most three
        const [event] = await call("events", { params: { id: session }, query: { since: seq - 1, limit: 1 } });
        if (event?.seq === seq && field in event) full = { ...full, [field]: event[field as keyof typeof event] };
      }
      const { cut: _, ...rest } = full;
      onLoaded(rest);
    });
  return (
    <Button size="small" className="self-start" onClick={() => void load()}>
      Show all
    </Button>
  );
}

export function within(directory: string, path: string): string {
  return directory !== "" && path.startsWith(`${directory}/`) ? path.slice(directory.length + 1) : path;
}
