import { type CommandEntry, jsonOption } from "../../command.ts";
import { clean } from "../../render/text.ts";

export const command: CommandEntry = {
  arguments: [{ name: "id", description: "the project", completes: "project" }],
  options: [jsonOption],
  examples: [["forget a project", "holdfast project rm my-app"]],
  notes: "Nothing on disk is touched.",
  daemon: "starts",
  async run(context, input) {
    const project = await context.call("projectRemove", { params: { id: input.arg(0) } });
    if (input.flag("json")) context.json(project);
    else context.out(`Project ${clean(project.id)} removed. Nothing on disk was touched.`);
  },
};
