/**
 * Fills submodules from the clones that the repository already has on disk, without the network. What has no local clone
 * is named and left for the person. `--checkout` keeps a configured `update = !command` from running.
 */
import { existsSync, realpathSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { askGit, checkoutDeadlineMs, git, runGit } from "./git.ts";
import { readFilters } from "./filters.ts";
import { isInside } from "./repository.ts";

export interface Submodule {
  name: string;
  path: string;
}

export async function readSubmodules(worktree: string): Promise<Submodule[]> {
  const file = join(worktree, ".gitmodules");
  if (!existsSync(file)) return [];
  const answer = await runGit(["config", "-z", "--file", file, "--get-regexp", "^submodule\\..*\\.path$"]);
  return answer.stdout
    .split("\0")
    .map((entry) => /^submodule\.(.*)\.path\n(.*)$/s.exec(entry))
    .filter((parts) => parts !== null)
    .map((parts) => ({ name: parts[1]!, path: parts[2]! }))
    .filter(({ name, path }) => staysInside(name) && staysInside(path));
}

/** `modules` is the directory of the clones that the repository keeps for its submodules. */
export async function fillSubmodules(
  worktree: string,
  modules: string,
  note: (text: string) => void,
  depth = 0,
): Promise<void> {
  for (const { name, path } of await readSubmodules(worktree)) {
    const clone = join(modules, name);
    const url = await askGit(["config", "--get", `submodule.${name}.url`], { cwd: worktree });
    if (!existsSync(join(clone, "HEAD")) || url === null) {
      note(`Submodule ${path} has no local clone. To get it: git submodule update --init -- ${path}`);
      continue;
    }
    const target = join(worktree, path);
    if (!existsSync(join(target, ".git")) && !(await fill(worktree, { name, path }, clone, url, note))) continue;
    if (depth < maxDepth && isInside(worktree, target)) {
      await fillSubmodules(target, join(clone, "modules"), (text) => note(`${path}: ${text}`), depth + 1);
    }
  }
}

/** Deeper nesting than this is a loop somebody made. */
const maxDepth = 8;

async function fill(
  worktree: string,
  { name, path }: Submodule,
  clone: string,
  url: string,
  note: (text: string) => void,
): Promise<boolean> {
  const filters = await readFilters({ gitDir: clone });
  const answer = await runGit(["submodule", "--quiet", "update", "--init", "--checkout", "--", path], {
    cwd: worktree,
    deadlineMs: checkoutDeadlineMs,
    config: [
      ...filters.checkout,
      [`submodule.${name}.url`, realpathSync(clone)],
      // Cloning from a path is off in submodules since a hostile one could name any path; this one is ours.
      ["protocol.file.allow", "always"],
    ],
  });
  if (answer.code !== 0) {
    note(`Submodule ${path} could not be filled from its local clone: ${answer.stderr.trim().split("\n").at(-1)}`);
    return false;
  }
  await git(["config", "remote.origin.url", url], { cwd: join(worktree, path) });
  return true;
}

function staysInside(name: string): boolean {
  return name !== "" && !isAbsolute(name) && !name.startsWith("-") && !name.split("/").includes("..");
}
