import { kinds, roles } from "../../protocol/session.ts";
import { callSpawn } from "../call-spawn.ts";
import { type CommandEntry, jsonOption, noWaitOption } from "../entry-types.ts";
import { noProjectHere, projectAt } from "../projects.ts";
import { spawnedLines } from "../render/spawned.ts";
import { spawnTarget } from "../spawn-target.ts";
import { spawnBody, spawnOptionEntries } from "../spawn-options.ts";
import { Waits } from "../waits.ts";

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
    noWaitOption,
    jsonOption,
  ],
  examples: [
    ["in a registered repository, with a first prompt", "holdfast spawn --prompt 'Fix the failing test'"],
    ["for an issue of a project", "holdfast spawn my-app 123"],
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
    const session = await callSpawn(context, new Waits(context), spawnBody({ ...target, input }));
    if (input.flag("json")) context.json(session);
    else context.out(spawnedLines(session).join("\n"));
  },
};
