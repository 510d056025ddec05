import type { SessionJson } from "../../contract/wire.ts";
import { markdownOf } from "./item-text.ts";
import type { TranscriptFeed } from "./transcript-feed.ts";

/** The whole transcript as a file. */
export async function exportTranscript(
  session: Pick<SessionJson, "id" | "title">,
  feed: TranscriptFeed,
): Promise<void> {
  await feed.loadAll();
  const { items, older, fault } = feed.state();
  if (older) throw fault ?? new Error("Not all of the transcript could be read. Try again.");
  const url = URL.createObjectURL(new Blob([markdownOf(session.title, items)], { type: "text/markdown" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `${session.id}.md`;
  link.click();
  // The browser has begun to read by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
