import { type Paint, clean } from "../../render/text.ts";
import { HoldfastError } from "../../../contract/errors.ts";
import { type CommandEntry, sessionArgument } from "../../command.ts";
import { readOn } from "../../read-events.ts";
import { follow } from "../../system/daemon/follow.ts";
import type { EventJson } from "../../../contract/stream.ts";
import { shorten } from "../../../model/text.ts";

/** Longer values are for --json. */
const maxDetail = 100;
const leftOut = new Set(["seq", "at", "type", "lastLines", "launch", "session"]);

export function eventLine(event: EventJson, paint: Paint): string {
  const details = Object.entries(event)
    .filter(([name, value]) => !leftOut.has(name) && value !== null && value !== undefined)
    .map(
      ([name, value]) =>
        `${name}=${shorten(clean(typeof value === "string" ? value : JSON.stringify(value)), maxDetail)}`,
    );
  const when = event.at.slice(0, 19).replace("T", " ");
  return [String(event.seq).padStart(4), paint.dim(when), paint.cyan(clean(event.type)), ...details].join("  ");
}

export const command: CommandEntry = {
  arguments: [sessionArgument],
  options: [
    { long: "since", value: "seq", description: "Only events after this sequence number" },
    { long: "follow", short: "f", description: "Follow new events" },
  ],
  examples: [
    ["show what happened", "holdfast events ma-12"],
    ["follow it from a known event", "holdfast events ma-12 --since 40 --follow --json"],
  ],
  notes: "Events are numbered without gaps, from 1.",
  json: "Print one JSON object per line",
  fails: "show events of",
  async run(context, input) {
    const id = input.arg(0);
    const since = input.text("since") ?? "0";
    if (!/^\d{1,15}$/.test(since)) throw new HoldfastError("usage", `--since must be an integer, not ${since}.`);
    let last = Number(since);
    const print = (event: EventJson): void => {
      if (input.flag("json")) context.json(event, 0);
      else context.out(eventLine(event, context.paint));
      last = event.seq;
    };
    await readOn(context, id, last, print);
    if (!input.flag("follow")) return;
    await follow(context, id, async () => {
      await readOn(context, id, last, print);
    });
  },
};
