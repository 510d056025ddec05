/**
 * A session's last line. Read from the log in steps: what was read once is kept, and a list of sessions in which nothing
 * happened asks for nothing.
 */
import { lastLineOf } from "../model/text.ts";
import type { SessionState } from "../model/session.ts";
import type { Services } from "./services.ts";

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

/** @param said what the agent of a terminal session said last, by its own word: a screen's last line is where one types. */
export function lastLine(
  services: Pick<Services, "store" | "clock">,
  session: SessionState,
  said: string | undefined,
): string | null {
  if (session.kind === "terminal") {
    const { run } = session;
    return lastLineOf(run.run === "ended" || run.run === "failed" ? run.lastLines.join("\n") : (said ?? ""));
  }
  const { store } = services;
  const sessions = known.get(store) ?? new Map<string, Known>();
  known.set(store, sessions);
  const before = sessions.get(session.id);
  const now = services.clock.now();
  if (before?.seq === session.seq) return before.line;
  // At the end of a turn it is always read: nothing may come after it for hours.
  if (before !== undefined && session.turn.turn === "open" && Math.abs(now - before.at) < freshMs) return before.line;
  const more = store.agentText(session.id, before?.seq ?? 0);
  const text = `${before?.text ?? ""}${more}`.slice(-keptCharacters);
  const line = more === "" && before !== undefined ? before.line : lastLineOf(text);
  sessions.set(session.id, { seq: session.seq, at: now, text, line });
  return line;
}
