import { type CommandEntry, jsonOption, sessionArgument } from "../../entry-types.ts";
import { showLines } from "../../render/session.ts";
import { verbFailure } from "../../verb.ts";

export const command: CommandEntry = {
  arguments: [sessionArgument],
  options: [jsonOption],
  examples: [
    ["where it is and how it is doing", "holdfast session show ma-12"],
    ["its worktree, for a script", "holdfast session show ma-12 --json | jq -r .workspacePath"],
  ],
  daemon: "starts",
  async run(context, input) {
    const id = input.arg(0);
    try {
      const session = await context.call("session", { params: { id } });
      if (input.flag("json")) context.json(session);
      else context.out(showLines(session, context.paint, context.now()).join("\n"));
    } catch (error) {
      throw await verbFailure(context, "show", id, error);
    }
  },
};
