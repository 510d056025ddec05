/** Commands, ids and other fixed-width text, and the buttons that copy it. */
import { useState } from "react";
import { Check, Copy } from "lucide-react";
import { IconButton, type ButtonProps } from "./button.tsx";
import { showToast } from "./toast.tsx";

const confirmedMs = 1_500;

export async function toClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Not a secure context, or the user refused.
    return false;
  }
}

export function CopyButton({ label, text, ...rest }: { label: string; text: string } & ButtonProps) {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    if (!(await toClipboard(text))) {
      showToast("The browser blocked access to the clipboard. Select the text and copy it by hand.", "fault");
      return;
    }
    setCopied(true);
    setTimeout(() => setCopied(false), confirmedMs);
  };
  return (
    <IconButton
      label={copied ? "Copied" : label}
      Sign={copied ? Check : Copy}
      signSize={14}
      onClick={() => void copy()}
      {...rest}
    />
  );
}

/** A short text with a button that copies it. `what` names it: "branch". */
export function CopyText({ text, what }: { text: string; what: string }) {
  return (
    <span className="flex min-w-0 items-center gap-0.5">
      <span className="truncate font-mono" title={text}>
        {text}
      </span>
      <CopyButton label={`Copy ${what}`} text={text} size="tiny" />
    </span>
  );
}

/** A sentence with commands between backticks. */
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
