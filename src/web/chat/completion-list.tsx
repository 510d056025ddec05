import { useEffect, useRef } from "react";
import { classes } from "../shared/ui/classes.ts";
import type { Completion } from "./completion.ts";

export interface CompletionListProps {
  id: string;
  completions: readonly Completion[];
  active: number;
  onAccept: (completion: Completion) => void;
}

/** Above the composer; the keys are pressed there, where the focus stays. */
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
          // Before the composer loses the focus.
          onPointerDown={(event) => {
            event.preventDefault();
            onAccept(completion);
          }}
          className={classes(
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
