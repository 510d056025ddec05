import { type CommandEntry, jsonOption, noWaitOption, sessionArgument } from "../../entry-types.ts";
import { restoredLines } from "../../render/restored.ts";
import { callVerb, sayNotes, verbJson } from "../../verb.ts";
import { waitingBack } from "../../waits.ts";

export const command: CommandEntry = {
  arguments: [sessionArgument],
  options: [noWaitOption, jsonOption],
  examples: [["bring a killed session back", "holdfast session restore ma-12"]],
  notes:
    "Its worktree comes back from the trash if it is there, and the agent is started in its own conversation.\nAn agent that cannot resume is started plainly, and that is said.",
  daemon: "starts",
  async run(context, input) {
    const id = input.arg(0);
    const wait = !input.flag("no-wait");
    const answer = await callVerb(waitingBack(context, input), "restore", id, wait ? {} : { wait });
    if (input.flag("json")) context.json(verbJson(answer));
    else if (!wait) context.out(`Session ${id} will be restored.`);
    else context.out(restoredLines(answer.session).join("\n"));
    sayNotes(context, input, answer);
  },
};
