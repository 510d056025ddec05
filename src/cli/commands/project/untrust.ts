import { type CommandEntry, jsonOption } from "../../command.ts";
import { clean } from "../../render/text.ts";

export const command: CommandEntry = {
  arguments: [{ name: "id", description: "Project id, e.g. my-app", completes: "project" }],
  options: [jsonOption],
  examples: [["no longer run what the repository's file says", "holdfast project untrust my-app"]],
  notes: "New sessions use defaults. Running sessions keep running. Earlier versions of the file lose your trust, too.",
  daemon: "starts",
  async run(context, input) {
    const id = input.arg(0);
    const question = await context.call("trust", { params: { id } });
    const none = question.digest === null || question.parts.length === 0;
    const answered = none
      ? question
      : await context.call("trustAnswer", { params: { id }, body: { digest: question.digest ?? "", trust: false } });
    if (input.flag("json")) context.json(answered);
    else if (none) context.out(`Nothing of project ${clean(id)} needs trust.`);
    else context.out(`${clean(answered.file ?? "")} is not trusted. New sessions of ${clean(id)} use defaults.`);
  },
};
