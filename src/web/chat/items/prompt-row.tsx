import { FileText, Image } from "lucide-react";
import type { PromptItem } from "../../../contract/transcript.ts";
import { clsx } from "clsx";
import { CopyButton } from "../../shared/ui/code-text.tsx";
import { safeText } from "../inert.ts";
import { Shortened } from "../shortened.tsx";
import { formatSize } from "../../../model/text.ts";
import { useEffect, useState } from "react";
import { fetchAttachment } from "../../shared/data/api.ts";
import { useChat } from "../chat-context.ts";

const states: Partial<Record<PromptItem["state"], string>> = {
  queued: "Queued",
  sending: "Sending …",
  doubtful: "This prompt may not have reached the agent",
  refused: "Not sent",
  withdrawn: "Withdrawn",
};

export interface PromptView extends Pick<PromptItem, "text" | "attachments" | "by" | "state" | "reason" | "edited"> {
  at?: number;
  /** Set if the daemon knows it; the daemon then has its images. */
  promptId?: string;
}

export function PromptRow({ prompt }: { prompt: PromptView }) {
  const state = states[prompt.state];
  const isFault = prompt.state === "doubtful" || prompt.state === "refused";
  const over = prompt.state === "withdrawn" || prompt.state === "refused";
  return (
    <article aria-label="Prompt" className="group/row mt-4 flex flex-col items-end">
      <div
        className={clsx(
          "max-w-[min(44rem,92%)] rounded-lg bg-accent-soft px-3 py-2 break-words whitespace-pre-wrap",
          over && "opacity-70",
        )}
      >
        <Shortened text={prompt.text} step={4_000}>
          {(part) => <span>{safeText(part)}</span>}
        </Shortened>
        {prompt.attachments.length > 0 && (
          <ul className="mt-1 flex flex-wrap gap-2">
            {prompt.attachments.map((attachment, index) => (
              <li
                key={index}
                className="flex max-w-full flex-col gap-1 rounded border border-line bg-panel px-1.5 py-1 text-xs"
              >
                {attachment.type === "image" && prompt.promptId !== undefined && (
                  <SentImage prompt={prompt.promptId} n={index} name={safeText(attachment.name)} />
                )}
                <span className="flex items-center gap-1">
                  {attachment.type === "image" ? <Image size={12} aria-hidden /> : <FileText size={12} aria-hidden />}
                  <span className="min-w-0 truncate font-mono">{safeText(attachment.name)}</span>
                  {attachment.size > 0 && <span className="text-dim">{formatSize(attachment.size)}</span>}
                </span>
              </li>
            ))}
          </ul>
        )}
      </div>
      <div className="flex h-7 items-center gap-2 text-xs text-dim">
        {prompt.by !== "person" && <span>from {safeText(prompt.by)}</span>}
        {prompt.edited && <span>edited</span>}
        {state !== undefined && (
          <span className={clsx(isFault && "text-alert")}>
            {state}
            {prompt.reason === null ? "" : `: ${safeText(prompt.reason)}`}
          </span>
        )}
        {prompt.at !== undefined && <Clock at={prompt.at} />}
        <CopyButton label="Copy prompt" text={prompt.text} />
      </div>
    </article>
  );
}

export function Clock({ at }: { at: number }) {
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString()} className="tabular-nums">
      {date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })}
    </time>
  );
}

interface SentImageProps {
  prompt: string;
  /** Index among the prompt's attachments. */
  n: number;
  name: string;
}

function SentImage({ prompt, n, name }: SentImageProps) {
  const { session } = useChat();
  const [address, setAddress] = useState<string | null>(null);
  const [large, setLarge] = useState(false);
  useEffect(() => {
    const abort = new AbortController();
    let made: string | null = null;
    fetchAttachment({ id: session, prompt, n: String(n) }, abort.signal).then(
      (blob) => abort.signal.aborted || setAddress((made = URL.createObjectURL(blob))),
      // Its name and size are shown without it.
      () => undefined,
    );
    return () => {
      abort.abort();
      if (made !== null) URL.revokeObjectURL(made);
    };
  }, [session, prompt, n]);
  // As tall as the image will be: rows must not jump when it loads.
  if (address === null) {
    return (
      <span className="flex size-24 items-center justify-center rounded bg-sunken text-dim">
        <Image size={16} aria-hidden />
      </span>
    );
  }
  return (
    <button
      type="button"
      aria-expanded={large}
      aria-label={large ? `Shrink ${name}` : `Enlarge ${name}`}
      className="block max-w-full cursor-zoom-in rounded aria-expanded:cursor-zoom-out"
      onClick={() => setLarge(!large)}
    >
      <img
        src={address}
        alt={name}
        className={clsx("rounded bg-sunken", large ? "max-h-[70dvh] max-w-full" : "size-24 object-contain")}
      />
    </button>
  );
}
