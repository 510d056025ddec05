import { HoldfastError } from "../../../contract/error.ts";
import { type CommandEntry, jsonOption, yesOption } from "../../command.ts";
import { clean } from "../../render/text.ts";
import { trustLines } from "../../render/trust.ts";

export const command: CommandEntry = {
  arguments: [{ name: "id", description: "Project id, e.g. my-app", completes: "project" }],
  options: [
    { ...yesOption, description: "Skip the confirmation prompt" },
    { long: "show", description: "Only show the settings that need trust" },
    jsonOption,
  ],
  examples: [
    ["review a project's holdfast.yaml and trust it", "holdfast project trust my-app"],
    ["only look", "holdfast project trust my-app --show"],
    ["in a script", "holdfast project trust my-app --yes"],
  ],
  notes:
    "Shows what the repository's holdfast.yaml would run or change, with a diff if you answered before, and asks.\nThe answer counts for exactly these settings; comments and harmless settings may change.",
  daemon: "starts",
  async run(context, input) {
    const id = input.arg(0);
    const question = await context.call("trust", { params: { id } });
    const json = input.flag("json");
    const open = question.parts.length > 0 && question.state !== "trusted";
    if (!json || (open && !input.flag("yes") && !input.flag("show"))) {
      (json ? context.err : context.out)(trustLines(question).join("\n"));
    }
    if (input.flag("show") || !open || question.digest === null) {
      if (json) context.json(question);
      return 0;
    }
    if (!input.flag("yes")) {
      if (!context.isTerminal(0)) {
        throw new HoldfastError("conflict", "Nothing was trusted: there is no terminal to ask on.", {
          hint: "Add --yes to trust these settings, or --show to only print them.",
        });
      }
      const { askYesNo } = await import("../../confirm.ts");
      if (!(await askYesNo("Trust this file?"))) {
        throw new HoldfastError("conflict", "Nothing was changed.");
      }
    }
    const body = { digest: question.digest, trust: true };
    const answered = await context.call("trustAnswer", { params: { id }, body });
    if (json) context.json(answered);
    else context.out(`${clean(answered.file ?? "")} is trusted. It counts from the next session on.`);
    return 0;
  },
};
