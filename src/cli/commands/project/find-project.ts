/** Finds the project that a command means: by name, or by the current directory. */
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
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
  const file = findUpwards(directory, "holdfast.yaml");
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

function findUpwards(directory: string, name: string): string | null {
  for (let at = resolve(directory); ; at = dirname(at)) {
    if (existsSync(join(at, name))) return join(at, name);
    if (at === dirname(at)) return null;
  }
}

/** A worktree's `.git` is a file that names its directory below the main repository's `.git`. */
function mainRepository(directory: string): string | null {
  const git = findUpwards(real(directory), ".git");
  if (git === null || !statSync(git).isFile()) return null;
  const target = /^gitdir: (.+?)\s*$/m.exec(readFileSync(git, "utf8"))?.[1];
  if (target === undefined) return null;
  const place = /^(.*)[/\\]worktrees[/\\][^/\\]+$/.exec(resolve(dirname(git), target))?.[1];
  if (place === undefined) return null;
  return real(place.endsWith(`${sep}.git`) ? dirname(place) : place);
}
