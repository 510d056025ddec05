import { useState } from "react";
import { Check, Copy } from "lucide-react";
import { IconButton } from "../shared/ui/button.tsx";
import { say } from "../shared/ui/toast.tsx";

const shownMs = 1_500;

export function CopyButton({ label, text, className }: { label: string; text: string; className?: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), shownMs);
    } catch {
      say("The browser did not let this page write to the clipboard. Select the text and copy it by hand.", "fault");
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
