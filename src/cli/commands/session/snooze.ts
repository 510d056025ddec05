import { HoldfastError } from "../../../contract/error.ts";
import { type CommandEntry, jsonOption, noWaitOption, sessionArgument } from "../../command.ts";
import { parseDuration } from "../../render/text.ts";
import { runVerb, sayNotes } from "./verb.ts";

const defaultFor = "2h";
/** What the daemon takes; far longer ones are no date any more. */
const longestMs = 366 * 24 * 3600 * 1000;

export const command: CommandEntry = {
  arguments: [sessionArgument],
  options: [
    { long: "for", value: "time", description: `how long, such as 30m, 2h, 1h30m or 3d (default ${defaultFor})` },
    noWaitOption,
    jsonOption,
  ],
  examples: [["until this evening", "holdfast session snooze ma-12 --for 8h"]],
  notes: "Its processes end; worktree and conversation are kept. It comes back by itself, or with the next prompt.",
  daemon: "starts",
  async run(context, input) {
    const text = input.text("for") ?? defaultFor;
    const forMs = parseDuration(text);
    if (forMs === null) {
      throw new HoldfastError("usage", `--for must be a time such as 30m, 2h or 3d, not ${text}.`);
    }
    if (forMs > longestMs) {
      throw new HoldfastError("usage", `--for must be a year at most, not ${text}.`, {
        hint: "To put a session away without a time: holdfast session archive.",
      });
    }
    const until = new Date(context.now() + forMs).toLocaleString();
    const words = { done: `snoozed until ${until}`, recorded: `will be snoozed until ${until}` };
    sayNotes(context, input, await runVerb(context, input, "snooze", words, { forMs }));
  },
};
