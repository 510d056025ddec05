/** A short text in fixed width with a button that copies it. */
import { useState } from "react";
import { Check, Copy } from "lucide-react";
import { showToast } from "./toast.tsx";
import { IconButton } from "./button.tsx";

const shownMs = 1_500;

export function CopyButton({ label, text, className }: { label: string; text: string; className?: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), shownMs);
    } catch {
      showToast(
        "The browser did not let this page write to the clipboard. Select the text and copy it by hand.",
        "fault",
      );
    }
  };
  return (
    <IconButton
      label={copied ? "Copied" : label}
      onClick={() => void copy()}
      {...(className === undefined ? {} : { className })}
    >
      {copied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
    </IconButton>
  );
}

const thanksMs = 1_500;

export function CopyText({ text, what }: { text: string; what: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    if (!(await toClipboard(text))) {
      showToast("The browser did not let this page copy. Select the text and copy it by hand.", "fault");
      return;
    }
    setCopied(true);
    setTimeout(() => setCopied(false), thanksMs);
  };
  const label = copied ? `Copied the ${what}` : `Copy the ${what}`;
  return (
    <span className="flex min-w-0 items-center gap-0.5">
      <span className="truncate font-mono" title={text}>
        {text}
      </span>
      <button
        type="button"
        aria-label={label}
        title={label}
        className="inline-flex size-6 shrink-0 items-center justify-center rounded text-dim hover:bg-sunken hover:text-text pointer-coarse:size-10"
        onClick={() => void copy()}
      >
        {copied ? <Check size={12} aria-hidden /> : <Copy size={12} aria-hidden />}
      </button>
    </span>
  );
}

export async function toClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Not a secure context, or the person refused.
    return false;
  }
}

/** A sentence of ours in which what stands between backticks is typed in a terminal. */
export function Commands({ text }: { text: string }) {
  return text.split("`").map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      <code key={index} className="rounded bg-sunken px-1 font-mono text-text">
        {part}
      </code>
    ),
  );
}
