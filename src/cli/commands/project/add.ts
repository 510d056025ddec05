import { resolve } from "node:path";
import { type CommandEntry, jsonOption } from "../../entry-types.ts";
import { clean } from "../../render/text.ts";

export const command: CommandEntry = {
  arguments: [
    { name: "path", description: "a repository, or a directory with a holdfast.yaml", completes: "directory" },
  ],
  options: [jsonOption],
  examples: [["register a repository", "holdfast project add ~/code/my-app"]],
  notes: "Registers the projects of <path>/holdfast.yaml, or, without one, the repository itself with defaults.",
  daemon: "starts",
  async run(context, input) {
    const projects = await context.call("projectAdd", { body: { path: resolve(context.cwd, input.arg(0)) } });
    if (input.flag("json")) context.json(projects);
    else for (const { id, path } of projects) context.out(`Project ${clean(id)} registered (${clean(path)}).`);
  },
};
