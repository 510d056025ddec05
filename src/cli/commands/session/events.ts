import { jsonText } from "../../render/json.ts";
import { HoldfastError } from "../../../contract/error.ts";
import { type CommandEntry, sessionArgument } from "../../command.ts";
import { eventLine } from "../../render/events.ts";
import { readOn } from "../../read-events.ts";
import { verbFailure } from "./verb.ts";
import type { EventJson } from "../../../contract/wire.ts";

export const command: CommandEntry = {
  arguments: [sessionArgument],
  options: [
    { long: "since", value: "seq", description: "only events after this sequence number", completes: "none" },
    { long: "follow", short: "f", description: "go on as events come" },
    { long: "json", description: "one JSON object a line" },
  ],
  examples: [
    ["what happened in it", "holdfast events ma-12"],
    ["follow it from a known event on", "holdfast events ma-12 --since 40 --follow --json"],
  ],
  notes: "Events are numbered without gaps, from 1.",
  daemon: "starts",
  async run(context, input) {
    const id = input.arg(0);
    const since = input.text("since") ?? "0";
    if (!/^\d{1,15}$/.test(since)) throw new HoldfastError("usage", `--since must be a whole number, not ${since}.`);
    const json = input.flag("json");
    let last = Number(since);
    const print = (event: EventJson): void => {
      context.out(json ? jsonText(event) : eventLine(event, context.paint));
      last = event.seq;
    };
    try {
      await readOn(context, id, last, print);
      if (!input.flag("follow")) return;
      const { follow } = await import("../../system/daemon/follow.ts");
      await follow(context, id, async () => {
        await readOn(context, id, last, print);
      });
    } catch (error) {
      throw await verbFailure(context, "show events of", id, error);
    }
  },
};
