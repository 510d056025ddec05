import { type CommandEntry, jsonOption, projectOption } from "../../command.ts";
import { requireProject } from "../project/find-project.ts";
import { cleanupLines } from "../../render/cleanup.ts";
import { compareNaturally } from "../../render/text.ts";
import { leaveDirectory } from "./verb.ts";

export const command: CommandEntry = {
  options: [
    projectOption,
    { long: "dry-run", description: "only show what would be done" },
    { long: "dead", description: "also sessions whose processes are proven gone" },
    jsonOption,
  ],
  examples: [
    ["look first", "holdfast session cleanup --dry-run"],
    ["one project's", "holdfast session cleanup -p my-app"],
  ],
  notes:
    "Completed means: its pull request is merged or its issue is closed. Completed sessions are killed, so their\nworktrees go to the trash. Orchestrators are never touched.",
  daemon: "starts",
  async run(context, input) {
    const project = input.text("project");
    if (project !== undefined) await requireProject(context, project);
    const dryRun = input.flag("dry-run");
    const body = { dryRun, dead: input.flag("dead"), ...(project === undefined ? {} : { project }) };
    if (!dryRun) leaveDirectory();
    const lines = (await context.call("cleanup", { body })).toSorted((a, b) => compareNaturally(a.session, b.session));
    if (input.flag("json")) context.json(lines);
    else context.out(cleanupLines(lines, dryRun).join("\n"));
    return lines.some(({ outcome }) => outcome === "error") ? 1 : 0;
  },
};
