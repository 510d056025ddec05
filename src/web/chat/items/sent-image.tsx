/** An image of a prompt: small, and as large as there is room for after a press. */
import { useEffect, useState } from "react";
import { Image } from "lucide-react";
import { fetchAttachment } from "../../shared/data/api.ts";
import { classes } from "../../shared/ui/classes.ts";
import { useChat } from "../chat-context.ts";

export interface SentImageProps {
  prompt: string;
  /** Which of the prompt's attachments. */
  n: number;
  name: string;
}

export function SentImage({ prompt, n, name }: SentImageProps) {
  const { session } = useChat();
  const [address, setAddress] = useState<string | null>(null);
  const [large, setLarge] = useState(false);
  useEffect(() => {
    const abort = new AbortController();
    let made: string | null = null;
    const load = async (): Promise<void> => {
      try {
        const blob = await fetchAttachment({ id: session, prompt, n: String(n) }, abort.signal);
        if (abort.signal.aborted) return;
        made = URL.createObjectURL(blob);
        setAddress(made);
      } catch {
        // Its name and size stand there without it.
      }
    };
    void load();
    return () => {
      abort.abort();
      if (made !== null) URL.revokeObjectURL(made);
    };
  }, [session, prompt, n]);
  // As high as the picture will be: rows must not jump when it comes.
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
      aria-label={large ? `Make ${name} small` : `Make ${name} large`}
      className="block max-w-full cursor-zoom-in rounded aria-expanded:cursor-zoom-out"
      onClick={() => setLarge(!large)}
    >
      <img
        src={address}
        alt={name}
        className={classes("rounded bg-sunken", large ? "max-h-[70dvh] max-w-full" : "size-24 object-contain")}
      />
    </button>
  );
}
