/**
 * Fills submodules from the repository's clones on disk, without the network. Submodules without a local clone are
 * reported. `--checkout` prevents a configured `update = !command` from running.
 */
import { existsSync, lstatSync, realpathSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { askGit, checkoutDeadlineMs, git, runGit, type GitCall } from "../git/git.ts";
import { readFilters } from "../git/filters.ts";
import { isInside } from "../git/repository.ts";
import { quoteShellWord } from "../../model/text.ts";

export interface Submodule {
  name: string;
  path: string;
}

export async function readSubmodules(worktree: string): Promise<Submodule[]> {
  const file = join(worktree, ".gitmodules");
  // Anything but a regular file of ordinary size would block git.
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat?.isFile() !== true || stat.size > maxListBytes) return [];
  const answer = await runGit("read", ["config", "-z", "--file", file, "--get-regexp", "^submodule\\..*\\.path$"]);
  return answer.stdout
    .split("\0")
    .map((entry) => /^submodule\.(.*)\.path\n(.*)$/s.exec(entry))
    .filter((parts) => parts !== null)
    .map((parts) => ({ name: parts[1]!, path: parts[2]! }))
    .filter(({ name, path }) => staysInside(name) && staysInside(path));
}

/** A thousand submodules take 100 KB. */
const maxListBytes = 1024 * 1024;

export interface Filling {
  /** The work tree whose submodules are filled; not used by any session yet. */
  path: string;
  where: Pick<GitCall, "worktree" | "discover">;
  /** The directory of the repository's submodule clones. */
  modules: string;
  /** A partial clone would fetch from wherever its configuration points, now that a protocol is allowed. */
  partial: boolean;
  note: (text: string) => void;
}

export async function fillSubmodules(filling: Filling, depth = 0): Promise<void> {
  const { path: worktree, where, modules, partial, note } = filling;
  for (const { name, path } of await readSubmodules(worktree)) {
    const clone = join(modules, name);
    const url = await askGit("read", ["config", "--get", `submodule.${name}.url`], where);
    if (partial) {
      note(`Submodule ${path} is not filled in a partial clone. To get it: ${command(path)}`);
      continue;
    }
    if (!existsSync(join(clone, "HEAD")) || url === null) {
      note(`Submodule ${path} has no local clone. To get it: ${command(path)}`);
      continue;
    }
    const target = join(worktree, path);
    if (!existsSync(join(target, ".git"))) {
      if (!(await fill(where, { name, path }, clone, note))) continue;
      // It was cloned from a local directory.
      if (isInside(worktree, target)) await git("write", ["config", "remote.origin.url", url], { discover: target });
    }
    if (depth < maxDepth && isInside(worktree, target)) {
      const inner = { path: target, where: { discover: target }, modules: join(clone, "modules"), partial };
      await fillSubmodules({ ...inner, note: (text) => note(`${path}: ${text}`) }, depth + 1);
    }
  }
}

/** Deeper nesting is a loop. */
const maxDepth = 8;

async function fill(
  where: Pick<GitCall, "worktree" | "discover">,
  { name, path }: Submodule,
  clone: string,
  note: (text: string) => void,
): Promise<boolean> {
  const filters = await readFilters({ gitDir: clone });
  if (filters.partial) {
    note(`Submodule ${path} is a partial clone. To get it: ${command(path)}`);
    return false;
  }
  const answer = await runGit("fill", ["submodule", "--quiet", "update", "--init", "--checkout", "--", path], {
    ...where,
    deadlineMs: checkoutDeadlineMs,
    config: [...filters.checkout, [`submodule.${name}.url`, realpathSync(clone)]],
  });
  if (answer.code !== 0) {
    note(`Cannot fill submodule ${path} from its local clone: ${answer.stderr.trim().split("\n").at(-1)}`);
    return false;
  }
  return true;
}

function command(path: string): string {
  return `git submodule update --init -- ${quoteShellWord(path)}`;
}

function staysInside(name: string): boolean {
  return name !== "" && !isAbsolute(name) && !name.startsWith("-") && !name.split("/").includes("..");
}
