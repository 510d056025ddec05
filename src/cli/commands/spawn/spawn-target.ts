/** What `spawn [project] [issue]` means: pure, from what was typed, the registered projects and the one of this directory. */
import { HoldfastError } from "../../../contract/error.ts";
import { projectIdPattern } from "../../../contract/ids.ts";
import type { ProjectJson } from "../../../contract/wire.ts";
import { unknownProject } from "../project/find-project.ts";

export interface SpawnTarget {
  project: string;
  issue: string | undefined;
}

export interface Typed {
  args: readonly string[];
  issueOption: string | undefined;
}

/** `none-here`: no project was named and this directory has none. */
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
    throw new HoldfastError("usage", `The issue is given twice: ${positional} and --issue ${issueOption}.`);
  }
  const issue = issueOption ?? positional;
  if (project !== null) return { project: project.id, issue };
  // Outside of any project a single word that could be a project's name was probably meant as one.
  const looksLikeProject = first !== undefined && projectIdPattern.test(first) && !/^\d+$/.test(first);
  if (looksLikeProject) throw unknownProject(first, projects);
  return "none-here";
}
