/** The last turns of a conversation, without reading all that was ever said. */
import { HoldfastError } from "../contract/errors.ts";
import type { SessionJson } from "../contract/session.ts";
import type { EventJson } from "../contract/stream.ts";
import type { Context } from "./context.ts";
import type { Input, OptionEntry } from "./command.ts";
import { readBack } from "./read-events.ts";
import { startOfTurns, type Transcript } from "./render/transcript.ts";

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

/** How many turns the person asked for. */
export function readTurnsOption<T>(input: Input, standard: T): number | T {
  const turns = input.text("turns");
  if (turns === undefined) return standard;
  if (!/^\d{1,6}$/.test(turns)) throw new HoldfastError("usage", `-n must be a whole number, not ${turns}.`);
  return Number(turns);
}

/** `turns` null: all of them. */
export async function readTurns(context: Context, session: SessionJson, turns: number | null): Promise<PastTurns> {
  const { id, seq } = session;
  const events = await readBack(context, id, seq, (found) => turns !== null && startOfTurns(found, turns) !== null);
  const from = turns === null ? 0 : (startOfTurns(events, turns) ?? 0);
  return { events, from, last: seq };
}

/** Moves the transcript to the end of the turns, and returns the text of the turns themselves. */
export function replay(transcript: Transcript, { events, from }: PastTurns): string {
  return transcript.replay(events, from).replace(/^\n/, "");
}
