import { HoldfastError } from "../../../contract/error.ts";
import type { Context } from "../../context.ts";
import { type CommandEntry, jsonOption, noWaitOption, yesOption } from "../../command.ts";
import { clean } from "../../render/text.ts";
import { namedSessions, sessionsArgument, verbOnAll } from "./several.ts";
import { verbFailure } from "./verb.ts";

export const command: CommandEntry = {
  arguments: [sessionsArgument],
  options: [yesOption, noWaitOption, jsonOption],
  examples: [["remove it without being asked", "holdfast session delete ma-12 --yes"]],
  notes: "Nothing brings a deleted session back; its worktree stays in the trash for 14 days.",
  daemon: "starts",
  async run(context, input) {
    const ids = namedSessions(input);
    if (!input.flag("yes")) await confirm(context, ids);
    return verbOnAll(context, input, "delete", { done: "deleted", recorded: "will be deleted" });
  },
};

async function confirm(context: Context, ids: readonly string[]): Promise<void> {
  const names: string[] = [];
  for (const id of ids) {
    try {
      const { title } = await context.call("session", { params: { id } });
      names.push(`${id} (${clean(title)})`);
    } catch (error) {
      throw await verbFailure(context, "delete", id, error);
    }
  }
  const { askYesNo } = await import("../../confirm.ts");
  if (context.isTerminal(0) && (await askYesNo(`Delete ${names.join(", ")} permanently?`))) return;
  throw new HoldfastError(
    "conflict",
    "Nothing was deleted.",
    context.isTerminal(0) ? {} : { hint: `Add --yes to delete ${ids.length === 1 ? "it" : "them"}.` },
  );
}
