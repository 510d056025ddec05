import { chatArgument, type CommandEntry, jsonOption } from "../../command.ts";
import { readTurns, readTurnsOption, replay, turnsOption } from "../../past-turns.ts";
import { Transcript } from "../../render/transcript.ts";
import { verbFailure } from "../session/verb.ts";

export const command: CommandEntry = {
  arguments: [chatArgument],
  options: [turnsOption, { ...jsonOption, description: "the turns' events, as JSON" }],
  examples: [
    ["all that was said", "holdfast acp history ma-12"],
    ["the last two turns", "holdfast acp history ma-12 -n 2"],
  ],
  notes: "Words in brackets are Holdfast's; > is a prompt, ~ what the agent thought.",
  daemon: "starts",
  async run(context, input) {
    const id = input.arg(0);
    const turns = readTurnsOption(input, null);
    try {
      const past = await readTurns(context, await context.call("session", { params: { id } }), turns);
      if (input.flag("json")) return context.json(past.events.filter(({ seq }) => seq >= past.from));
      const transcript = new Transcript(context.paint);
      const text = replay(transcript, past) + transcript.end();
      context.write(text === "" ? "Nothing was said yet.\n" : text);
    } catch (error) {
      throw await verbFailure(context, "show the history of", id, error);
    }
  },
};
