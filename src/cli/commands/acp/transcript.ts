/** Commands that print a chat session's transcript. */
import { requestName } from "../../../contract/permission-request.ts";
import { chatArgument, type CommandEntry, integerOption } from "../../command.ts";
import { readTurns, turnsOption, readOn } from "../../read-events.ts";
import { clean } from "../../render/text.ts";
import { Transcript } from "../../render/transcript.ts";
import { follow } from "../../system/daemon/follow.ts";

export const history: CommandEntry = {
  arguments: [chatArgument],
  options: [turnsOption],
  json: "Print the turns' events as JSON",
  examples: [
    ["print the full transcript", "holdfast acp history ma-12"],
    ["print the last two turns", "holdfast acp history ma-12 -n 2"],
  ],
  notes: "[brackets] are Holdfast messages, > marks prompts, ~ marks the agent's thinking.",
  fails: "show the history of",
  async run(context, input) {
    const turns = integerOption(input, "turns", "-n") ?? null;
    const past = await readTurns(context, await context.call("session", { params: { id: input.arg(0) } }), turns);
    if (input.flag("json")) return context.json(past.events.filter(({ seq }) => seq >= past.from));
    const transcript = new Transcript(context.paint);
    const text = transcript.replay(past) + transcript.end();
    context.write(text === "" ? "No messages yet.\n" : text);
  },
};

const defaultTurns = 1;

export const tail: CommandEntry = {
  arguments: [chatArgument],
  json: false,
  options: [{ ...turnsOption, description: `Start this many turns back (default: ${defaultTurns})` }],
  examples: [["watch it work", "holdfast acp tail ma-12"]],
  notes: "Ctrl-C stops following; the agent keeps running. For scripts: holdfast events --follow --json.",
  fails: "follow",
  async run(context, input) {
    const id = input.arg(0);
    const turns = integerOption(input, "turns", "-n") ?? defaultTurns;
    const transcript = new Transcript(context.paint);
    const past = await readTurns(context, await context.call("session", { params: { id } }), turns);
    context.write(transcript.replay(past));
    let { last } = past;
    let announced: string | undefined;
    await follow(context, id, async () => {
      await readOn(context, id, last, (event) => {
        last = event.seq;
        context.write(transcript.take(event));
      });
      const [question] = transcript.questions;
      if (question === undefined || question.requestId === announced) return;
      announced = question.requestId;
      const how = `Answer it: holdfast acp approve ${clean(id)} ${requestName(question.requestId)} (or deny)`;
      context.write(`  ${context.paint.dim(how)}\n`);
    });
  },
};
