import { chatArgument, type CommandEntry } from "../../command.ts";
import { readTurns, readTurnsOption, replay, turnsOption } from "../../past-turns.ts";
import { readOn } from "../../read-events.ts";
import { questionId } from "../../../contract/question.ts";
import { clean } from "../../render/text.ts";
import { Transcript } from "../../render/transcript.ts";
import { verbFailure } from "../session/verb.ts";

const defaultTurns = 1;

export const command: CommandEntry = {
  arguments: [chatArgument],
  options: [{ ...turnsOption, description: `begin this many turns back (default ${defaultTurns})` }],
  examples: [["watch it work", "holdfast acp tail ma-12"]],
  notes: "Ctrl-C ends the watching, and nothing else. For scripts: holdfast events --follow --json.",
  daemon: "starts",
  async run(context, input) {
    const id = input.arg(0);
    const turns = readTurnsOption(input, defaultTurns);
    const transcript = new Transcript(context.paint);
    try {
      const past = await readTurns(context, await context.call("session", { params: { id } }), turns);
      context.write(replay(transcript, past));
      let { last } = past;
      let told: string | undefined;
      const { follow } = await import("../../system/daemon/follow.ts");
      await follow(context, id, async () => {
        await readOn(context, id, last, (event) => {
          last = event.seq;
          context.write(transcript.take(event));
        });
        const [question] = transcript.questions;
        if (question === undefined || question.requestId === told) return;
        told = question.requestId;
        const how = `Answer it: holdfast acp approve ${clean(id)} ${questionId(question.requestId)} (or deny)`;
        context.write(`  ${context.paint.dim(how)}\n`);
      });
    } catch (error) {
      throw await verbFailure(context, "follow", id, error);
    }
  },
};
