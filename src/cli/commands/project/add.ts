import { resolve } from "node:path";
import { type CommandEntry, jsonOption } from "../../command.ts";
import { answerFor, decide, trustOptions } from "./answer-trust.ts";
import { registeredLines } from "../../render/projects.ts";

export const command: CommandEntry = {
  arguments: [
    { name: "path", description: "a repository, or a directory with a holdfast.yaml", completes: "directory" },
  ],
  options: [
    ...trustOptions,
    { long: "move", description: "Take projects over from the file that describes them now" },
    jsonOption,
  ],
  examples: [
    ["register a repository", "holdfast project add ~/code/my-app"],
    ["in a script, with what its holdfast.yaml runs", "holdfast project add ~/code/my-app --trust"],
  ],
  notes:
    "Registers the projects of <path>/holdfast.yaml, or, without one, the repository itself with defaults.\nShows what that file would run or change and asks whether you trust it; without trust sessions use defaults.",
  daemon: "starts",
  async run(context, input) {
    const path = resolve(context.cwd, input.arg(0));
    const question = await context.call("trustAt", { query: { path } });
    const trust = await decide(context, question, input);
    // Registered first: until the answer is on record its sessions would use defaults.
    const body = { path, ...(input.flag("move") ? { move: true } : {}) };
    const added = await context.call("projectAdd", { body });
    const projects = trust === null ? added : await answerFor(context, added, question, trust);
    if (input.flag("json")) context.json(projects);
    else context.out(registeredLines(projects).join("\n"));
  },
};
