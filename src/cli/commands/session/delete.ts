import { HoldfastError } from "../../../protocol/error.ts";
import { type CommandEntry, jsonOption, noWaitOption, sessionArgument, yesOption } from "../../entry-types.ts";
import { clean } from "../../render/text.ts";
import { runVerb, sayNotes, verbFailure } from "../../verb.ts";

export const command: CommandEntry = {
  arguments: [sessionArgument],
  options: [yesOption, noWaitOption, jsonOption],
  examples: [["remove it without being asked", "holdfast session delete ma-12 --yes"]],
  notes: "Nothing brings a deleted session back; its worktree stays in the trash for 14 days.",
  daemon: "starts",
  async run(context, input) {
    const id = input.arg(0);
    if (!input.flag("yes")) {
      let title: string;
      try {
        ({ title } = await context.call("session", { params: { id } }));
      } catch (error) {
        throw await verbFailure(context, "delete", id, error);
      }
      const { askYesNo } = await import("../../ask.ts");
      const agreed = context.isTerminal(0) && (await askYesNo(`Delete ${id} (${clean(title)}) for good?`));
      if (!agreed) {
        throw new HoldfastError(
          "conflict",
          "Nothing was deleted.",
          context.isTerminal(0) ? {} : { hint: "Add --yes to delete it." },
        );
      }
    }
    const answer = await runVerb(context, input, "delete", { done: "deleted", recorded: "will be deleted" });
    sayNotes(context, input, answer);
  },
};
