/** Reads a session's events page by page: those after a sequence number, or the last turns. */
import { HoldfastError } from "../contract/errors.ts";
import type { SessionJson } from "../contract/session.ts";
import { type EventJson, isLastPage } from "../contract/stream.ts";
import type { Input, OptionEntry } from "./command.ts";
import type { Context } from "./context.ts";
import { startOfTurns } from "./render/transcript.ts";

const pageSize = 1_000;

/** `take` receives each event once, in order. */
export async function readOn(
  context: Context,
  id: string,
  since: number,
  take: (event: EventJson) => void,
): Promise<void> {
  let last = since;
  for (;;) {
    const page = await context.call("events", { params: { id }, query: { since: last, limit: pageSize } });
    for (const event of page) take(event);
    last = page.at(-1)?.seq ?? last;
    if (isLastPage(page, pageSize)) return;
  }
}

/** The last events up to `seq`, read backwards page by page until they are enough, or all. */
export async function readBack(
  context: Context,
  id: string,
  seq: number,
  isEnough: (events: readonly EventJson[]) => boolean,
): Promise<EventJson[]> {
  let events: EventJson[] = [];
  for (let to = seq; to > 0 && !isEnough(events);) {
    const since = Math.max(0, to - pageSize);
    const page: EventJson[] = [];
    // A flood's page may hold fewer than were asked for.
    for (let last = since; last < to;) {
      const part = await context.call("events", { params: { id }, query: { since: last, limit: to - last } });
      page.push(...part);
      last = part.at(-1)?.seq ?? to;
    }
    events = [...page, ...events];
    to = since;
  }
  return events;
}

export interface PastTurns {
  /** May begin earlier: with what the turns refer to. */
  events: EventJson[];
  /** Sequence number of the first event that belongs to the turns. */
  from: number;
  /** Sequence number of the last event that was read. */
  last: number;
}

export const turnsOption: OptionEntry = {
  long: "turns",
  short: "n",
  value: "number",
  description: "Show only the last N turns",
};

/** The number of turns on the command line. */
export function readTurnsOption<T>(input: Input, standard: T): number | T {
  const turns = input.text("turns");
  if (turns === undefined) return standard;
  if (!/^\d{1,6}$/.test(turns)) throw new HoldfastError("usage", `-n must be an integer, not ${turns}.`);
  return Number(turns);
}

/** `turns` null: all of them. */
export async function readTurns(context: Context, session: SessionJson, turns: number | null): Promise<PastTurns> {
  const { id, seq } = session;
  const events = await readBack(context, id, seq, (found) => turns !== null && startOfTurns(found, turns) !== null);
  const from = turns === null ? 0 : (startOfTurns(events, turns) ?? 0);
  return { events, from, last: seq };
}
