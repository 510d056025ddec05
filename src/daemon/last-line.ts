/**
 * A session's last line. Read from the log in steps: what was read once is kept, and a list of sessions in which nothing
 * happened asks for nothing.
 */
import { lastLineOf } from "../core/last-line.ts";
import type { SessionState } from "../protocol/session.ts";
import type { Parts } from "./parts.ts";

/** The line grows while the agent speaks; a card need not follow each word. */
const freshMs = 250;
/** More than any line that is shown. */
const keptCharacters = 1_000;

interface Known {
  seq: number;
  at: number;
  text: string;
  line: string | null;
}

const known = new WeakMap<object, Map<string, Known>>();

export function lastLine(parts: Pick<Parts, "store" | "clock">, session: SessionState): string | null {
  if (session.kind === "terminal") {
    const { run } = session;
    return run.run === "ended" || run.run === "failed" ? lastLineOf(run.lastLines.join("\n")) : null;
  }
  const { store } = parts;
  const sessions = known.get(store) ?? new Map<string, Known>();
  known.set(store, sessions);
  const before = sessions.get(session.id);
  const now = parts.clock.now();
  if (before?.seq === session.seq) return before.line;
  // At the end of a turn it is always read: nothing may come after it for hours.
  if (before !== undefined && session.turn.turn === "open" && Math.abs(now - before.at) < freshMs) return before.line;
  const more = store.agentText(session.id, before?.seq ?? 0);
  const text = `${before?.text ?? ""}${more}`.slice(-keptCharacters);
  const line = more === "" && before !== undefined ? before.line : lastLineOf(text);
  sessions.set(session.id, { seq: session.seq, at: now, text, line });
  return line;
}
