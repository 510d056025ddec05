import { type CommandEntry, jsonOption, sessionArgument } from "../../command.ts";
import { questionLines } from "../../render/question.ts";
import { showLines } from "../../render/session.ts";
import { verbFailure } from "./verb.ts";

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
    // The list of sessions cuts long commands; what is about to be approved is shown in full.
    const asked = async ({ permissions }: { permissions: readonly unknown[] }): Promise<string[]> =>
      permissions.length === 0
        ? []
        : (await context.call("questions", { params: { id } })).flatMap((one) => questionLines(one, context.paint));
    try {
      const session = await context.call("session", { params: { id } });
      if (input.flag("json")) context.json(session);
      else context.out([...showLines(session, context.paint, context.now()), ...(await asked(session))].join("\n"));
    } catch (error) {
      throw await verbFailure(context, "show", id, error);
    }
  },
};
