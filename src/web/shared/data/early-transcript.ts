/** The newest page of a transcript, asked for while the code that shows it is still being fetched. */
import type { TranscriptPage } from "../../../contract/transcript.ts";
import { call } from "./api.ts";
import { hasState } from "./session-cache.ts";

/** Several screens of a large display. */
const newestItems = 120;
/** Asked longer ago than this, it is asked again: nobody has come for it. */
const freshMs = 5_000;

const asked = new Map<string, { at: number; page: Promise<TranscriptPage> }>();

/** Not for what this browser has already: that is shown at once, and only the events since are read. */
export function askEarly(id: string): void {
  if (hasState(id)) return;
  const page = ask(id);
  // Whoever takes it hears of the fault.
  page.catch(() => undefined);
  asked.set(id, { at: performance.now(), page });
}

export function newestPage(id: string): Promise<TranscriptPage> {
  const early = asked.get(id);
  asked.delete(id);
  return early !== undefined && performance.now() - early.at < freshMs ? early.page : ask(id);
}

function ask(id: string): Promise<TranscriptPage> {
  return call("transcript", { params: { id }, query: { tail: newestItems } });
}
