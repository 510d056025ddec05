/** Text of any length: a part is rendered, more on request. Rendering 10 MB at once would freeze the page. */
import { useState, type ReactNode } from "react";
import { Button } from "../shared/ui/button.tsx";
import { formatSize } from "../../model/text.ts";

export interface ShortenedProps {
  text: string;
  /** Characters rendered at first. */
  step: number;
  /** Renders the end instead of the beginning, for streaming text. */
  fromEnd?: boolean;
  children: (part: string) => ReactNode;
}

export function Shortened({ text, step, fromEnd = false, children }: ShortenedProps) {
  const [steps, setSteps] = useState(1);
  const most = steps * step;
  if (text.length <= most) return children(text);
  const hidden = text.length - most;
  const more = (
    <Button size="small" variant="quiet" onClick={() => setSteps(steps * 4)}>
      Show more ({formatSize(hidden)} {fromEnd ? "before this" : "left"})
    </Button>
  );
  if (!fromEnd) {
    return (
      <>
        {children(text.slice(0, safeEnd(text, most)))}
        {more}
      </>
    );
  }
  // The start moves in steps: otherwise the rendered text would change with every word.
  const from = Math.ceil(hidden / step) * step;
  return (
    <>
      {more}
      {children(text.slice(safeEnd(text, from)))}
    </>
  );
}

/** At a nearby line end, and never inside a surrogate pair. */
function safeEnd(text: string, at: number): number {
  const line = text.lastIndexOf("\n", at);
  if (at - line < 500 && line > 0) return line + 1;
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}
