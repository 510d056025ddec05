import { kinds, roles } from "../../../model/session.ts";
import { callSpawn } from "./call-spawn.ts";
import { type CommandEntry, jsonOption, noWaitOption } from "../../command.ts";
import { noProjectHere, projectAt } from "../project/find-project.ts";
import { spawnedLines } from "../../render/spawned.ts";
import { clean } from "../../render/text.ts";
import { spawnTarget } from "./spawn-target.ts";
import { spawnBody, spawnOptionEntries } from "./spawn-options.ts";
import { settleTrust, trustOptions } from "../project/answer-trust.ts";
import { Waits } from "./waits.ts";

export const command: CommandEntry = {
  arguments: [
    {
      name: "project",
      description: "its id; inside a registered repository it may be left out",
      optional: true,
      completes: "project",
    },
    { name: "issue", description: "the issue to work on", optional: true, completes: "none" },
  ],
  options: [
    { long: "prompt", value: "text", description: "the first prompt", completes: "none" },
    ...spawnOptionEntries,
    { long: "kind", value: "kind", description: "terminal or chat", choices: kinds },
    { long: "role", value: "role", description: "worker, orchestrator or shell", choices: roles },
    { long: "branch", value: "name", description: "work on this branch", completes: "none" },
    { long: "base", value: "ref", description: "start the branch from here", completes: "none" },
    { long: "name", value: "title", description: "the session's title", completes: "none" },
    { long: "issue", value: "issue", description: "the issue to work on", completes: "none" },
    { long: "resume", description: "take up the session that the issue already has" },
    ...trustOptions,
    noWaitOption,
    jsonOption,
  ],
  examples: [
    ["in a registered repository, with a first prompt", "holdfast spawn --prompt 'Fix the failing test'"],
    ["for an issue of a project", "holdfast spawn my-app 123"],
    [
      "shut in: it sees and changes only its worktree, branch and own state",
      "holdfast spawn my-app --contain worktree --network registry.npmjs.org --prompt 'Fix the failing test'",
    ],
    ["take up what was begun for it", "holdfast spawn my-app 123 --resume"],
  ],
  notes:
    "Returns when the agent runs or has failed. The last line is SESSION=<id>.\nOn a terminal stderr tells what takes long; Ctrl-C only stops the waiting.",
  daemon: "starts",
  async run(context, input) {
    const projects = await context.call("projects");
    const typed = { args: input.args, issueOption: input.text("issue") };
    const target = spawnTarget(typed, projects, projectAt(context.cwd, projects));
    if (target === "none-here") throw noProjectHere(context.cwd);
    const project = projects.find(({ id }) => id === target.project);
    if (project !== undefined) await settleTrust(context, project, input);
    const session = await callSpawn(context, new Waits(context), spawnBody({ ...target, input }));
    if (session.notice !== undefined) context.err(clean(session.notice));
    if (input.flag("json")) context.json(session);
    else context.out(spawnedLines(session).join("\n"));
  },
};
