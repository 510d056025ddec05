import { callSpawn, spawnBody, spawnOptionEntries, spawnedLines } from "./call-spawn.ts";
import { type CommandEntry, noWaitOption } from "../../command.ts";
import { noProjectHere, projectAt, unknownProject } from "../project/find-project.ts";
import { clean } from "../../render/text.ts";
import { settleTrust, trustOptions } from "../project/answer-trust.ts";
import { Waits } from "./waits.ts";
import { HoldfastError } from "../../../contract/errors.ts";
import { kinds, projectIdPattern, roles } from "../../../contract/ids.ts";
import type { ProjectJson } from "../../../contract/project.ts";

export const command: CommandEntry = {
  arguments: [
    {
      name: "project",
      description: "Project id (optional inside a registered repository)",
      optional: true,
      completes: "project",
    },
    { name: "issue", description: "Issue to work on", optional: true },
  ],
  options: [
    { long: "prompt", value: "text", description: "First prompt" },
    ...spawnOptionEntries,
    { long: "kind", value: "kind", description: "Kind of session", choices: kinds },
    { long: "role", value: "role", description: "Role of the session", choices: roles },
    { long: "branch", value: "name", description: "Branch to work on" },
    { long: "base", value: "ref", description: "Base ref for the new branch" },
    { long: "name", value: "title", description: "Session title" },
    { long: "issue", value: "issue", description: "Issue to work on" },
    { long: "resume", description: "Reuse the issue's existing session" },
    ...trustOptions,
    noWaitOption,
  ],
  examples: [
    ["start one in a registered repository", "holdfast spawn --prompt 'Fix the failing test'"],
    ["start one for an issue", "holdfast spawn my-app 123"],
    [
      "contain it: it sees and changes only its worktree, branch and own state",
      "holdfast spawn my-app --contain worktree --network registry.npmjs.org --prompt 'Fix the failing test'",
    ],
    ["resume the issue's existing session", "holdfast spawn my-app 123 --resume"],
  ],
  notes:
    "Returns when the agent is running or has failed. The last line is SESSION=<id>.\nProgress goes to stderr. Ctrl-C stops waiting; the spawn continues.",
  async run(context, input) {
    const projects = await context.call("projects");
    const typed = { args: input.args, issueOption: input.text("issue") };
    const target = spawnTarget(typed, projects, projectAt(context.cwd, projects));
    if (target === "none-here") throw noProjectHere(context.cwd);
    const project = projects.find(({ id }) => id === target.project);
    if (project !== undefined) await settleTrust(context, project, input);
    const session = await callSpawn(context, new Waits(context), spawnBody({ ...target, input }));
    if (session.notice !== undefined) context.err(clean(session.notice));
    context.print(session, spawnedLines(session));
  },
};

interface SpawnTarget {
  project: string;
  issue: string | undefined;
}

interface Typed {
  args: readonly string[];
  issueOption: string | undefined;
}

/** What `spawn [project] [issue]` means. `none-here`: no project was named and this directory has none. */
export function spawnTarget(
  typed: Typed,
  projects: readonly ProjectJson[],
  here: ProjectJson | null,
): SpawnTarget | "none-here" {
  const { args, issueOption } = typed;
  if (issueOption === "") throw new HoldfastError("usage", "--issue must not be empty.");
  const [first, second] = args;
  const named = projects.find(({ id }) => id === first);
  if (first !== undefined && second !== undefined && named === undefined) throw unknownProject(first, projects);
  const project = named ?? here;
  // One argument that is a project's id is the project; any other is the issue.
  const positional = named === undefined ? first : second;
  if (positional !== undefined && issueOption !== undefined && positional !== issueOption) {
    throw new HoldfastError("usage", `Two issues given: ${positional} and --issue ${issueOption}.`);
  }
  const issue = issueOption ?? positional;
  if (project !== null) return { project: project.id, issue };
  // Outside of any project, a single word that could be a project's name was probably meant as one.
  const looksLikeProject = first !== undefined && projectIdPattern.test(first) && !/^\d+$/.test(first);
  if (looksLikeProject) throw unknownProject(first, projects);
  return "none-here";
}
