import { memo } from "react";
import type { TranscriptItem } from "../../../contract/transcript.ts";
import { MarkRow } from "./mark-row.tsx";
import { PermissionCard } from "./permission-card.tsx";
import { PromptRow } from "./prompt-row.tsx";
import { ToolCard } from "./tool-card.tsx";
import { ThoughtRow, TextRow, WorkspaceRow } from "./text-row.tsx";

export interface RowProps {
  item: TranscriptItem;
  /** Whether text is still being added. */
  streaming: boolean;
  /** Expands everything: the current search match is here. */
  revealed: boolean;
  /** Whether this is the first item since the user left. */
  awayBefore: boolean;
}

/** Rendered again only if its item is another object. */
export const Row = memo(function Row({ item, streaming, revealed, awayBefore }: RowProps) {
  return (
    <div data-seq={item.seq} className="mx-auto w-full max-w-[64rem] px-3 sm:px-6">
      {awayBefore && (
        <div
          role="separator"
          aria-label="While you were away"
          className="mt-4 flex items-center gap-3 text-xs font-medium text-accent"
        >
          <span aria-hidden className="h-px flex-1 bg-accent/40" />
          While you were away
          <span aria-hidden className="h-px flex-1 bg-accent/40" />
        </div>
      )}
      <Body item={item} streaming={streaming} revealed={revealed} />
    </div>
  );
});

function Body({ item, streaming, revealed }: Omit<RowProps, "awayBefore">) {
  if (item.item === "prompt") return <PromptRow prompt={item} />;
  if (item.item === "text") return <TextRow text={item.text} streaming={streaming} />;
  if (item.item === "thought")
    return <ThoughtRow name={item.key} text={item.text} streaming={streaming} open={revealed} />;
  if (item.item === "tool") return <ToolCard item={item} open={revealed} />;
  if (item.item === "permission") return <PermissionCard item={item} />;
  if (item.item === "workspace-output") return <WorkspaceRow name={item.key} text={item.text} open={revealed} />;
  return <MarkRow item={item} open={revealed} />;
}
