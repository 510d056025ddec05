/** Finds the project that a command means: by name, or by the current directory. */
import { realpathSync } from "node:fs";
import { dirname, resolve, sep } from "node:path";
import { findConfig, repositoryAt, repositoryRoot } from "../../../config/repository.ts";
import { HoldfastError } from "../../../contract/errors.ts";
import type { ProjectJson } from "../../../contract/project.ts";
import type { Context } from "../../context.ts";
import { quoteShellWord } from "../../../model/text.ts";

export function unknownProject(id: string, projects: readonly Pick<ProjectJson, "id">[]): HoldfastError {
  const ids = projects.map((project) => project.id).join(", ");
  return new HoldfastError("not-found", `Unknown project: ${id}`, {
    hint:
      projects.length === 0
        ? "No project is registered yet: run holdfast init in a repository."
        : `Valid projects: ${ids}`,
  });
}

export async function requireProject(context: Context, id: string): Promise<ProjectJson> {
  const projects = await context.call("projects");
  const project = projects.find((candidate) => candidate.id === id);
  if (project === undefined) throw unknownProject(id, projects);
  return project;
}

/** The innermost registered project that contains a directory, also from inside one of its worktrees. */
export function projectAt(directory: string, projects: readonly ProjectJson[]): ProjectJson | null {
  const paths = [real(directory), mainRepository(directory)].filter((path) => path !== null);
  const holding = projects.filter(({ path }) => {
    const root = real(path);
    return paths.some((one) => one === root || one.startsWith(root.endsWith(sep) ? root : root + sep));
  });
  return holding.toSorted((a, b) => b.path.length - a.path.length)[0] ?? null;
}

export function noProjectHere(directory: string): HoldfastError {
  const file = findConfig(directory);
  return file === null
    ? new HoldfastError("not-found", "No holdfast.yaml found", {
        hint: "Run holdfast init in the repository, or name a project: holdfast spawn <project>.",
      })
    : new HoldfastError("not-found", `The projects in ${file} are not registered.`, {
        hint: `Register them: holdfast project add ${quoteShellWord(dirname(file))}`,
      });
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

/** The repository that a linked worktree belongs to. */
function mainRepository(directory: string): string | null {
  const at = repositoryAt(repositoryRoot(real(directory)) ?? directory);
  if (at.is !== "repository" || at.repository.commonDirectory === at.repository.gitDirectory) return null;
  const { commonDirectory } = at.repository;
  return real(commonDirectory.endsWith(`${sep}.git`) ? dirname(commonDirectory) : commonDirectory);
}
