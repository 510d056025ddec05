import { type CommandEntry, jsonOption } from "../../command.ts";
import { projectLines } from "../../render/projects.ts";

export const command: CommandEntry = {
  options: [jsonOption],
  examples: [["registered projects", "holdfast project ls"]],
  daemon: "starts",
  async run(context, input) {
    const projects = await context.call("projects");
    if (input.flag("json")) context.json(projects);
    else context.out(projectLines(projects).join("\n"));
  },
};
