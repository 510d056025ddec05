/**
 * Adds to a new worktree: links, copies, and the ignored files that `.worktreeinclude` names. Repeatable; never
 * replaces anything in the worktree.
 */
import {
  constants,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  appendFileSync,
  readFileSync,
} from "node:fs";
import { dirname, isAbsolute, join, normalize } from "node:path";
import { withPersonalUmask } from "../../base/program.ts";
import { HoldfastError } from "../../contract/errors.ts";
import type { WorktreePlan } from "../../ports/worktree.ts";
import { git, runGit } from "../git/git.ts";
import type { ConfigEntry } from "../git/git-rules.ts";
import type { Worktree } from "../record.ts";
import { isInside } from "../git/repository.ts";

export const includeFile = ".worktreeinclude";

export interface Provision {
  root: string;
  worktree: Worktree;
  symlinks: readonly string[];
  copy: readonly string[];
  /** Where copies are made before they are renamed into the worktree; on its file system, outside it. */
  scratch: string;
  filters: readonly ConfigEntry[];
  note: (text: string) => void;
}

export async function provision(from: Provision): Promise<void> {
  const placed: string[] = [];
  for (const name of from.symlinks.map(checkRelative)) {
    if (place(from, name, (source, target) => symlinkSync(source, target))) placed.push(name);
  }
  const included = existsSync(join(from.root, includeFile)) ? await readIncluded(from) : [];
  for (const name of [...from.copy.map(checkRelative), ...included]) {
    if (place(from, name, (source, target) => copyWhole(from, source, target))) placed.push(name);
  }
  if (placed.length > 0) await keepOutOfStatus(from, placed);
}

/** Problems with the paths of a plan, as sentences. */
export function checkProvision(plan: Pick<WorktreePlan, "symlinks" | "copy">): string[] {
  return [...plan.symlinks, ...plan.copy]
    .filter((name) => !isPlainRelative(name))
    .map((name) => `${JSON.stringify(name)} is not a path inside the repository. Fix symlinks or copy.`);
}

function checkRelative(name: string): string {
  if (isPlainRelative(name)) return normalize(name).replace(/\/$/, "");
  throw new HoldfastError("invalid", `${JSON.stringify(name)} is not a path inside the repository.`, {
    hint: "Fix the project's symlinks or copy.",
  });
}

function isPlainRelative(name: string): boolean {
  const parts = normalize(name).split("/");
  return name !== "" && !name.includes("\0") && !isAbsolute(name) && !["..", ".", ".git"].includes(parts[0]!);
}

/** Returns whether the worktree now contains it. */
function place(from: Provision, name: string, put: (source: string, target: string) => void): boolean {
  const source = join(from.root, name);
  const target = join(from.worktree.path, name);
  if (lstatSync(target, { throwIfNoEntry: false }) !== undefined) return true;
  if (!existsSync(source)) {
    from.note(`${name} is not in ${from.root}: skipped.`);
    return false;
  }
  // A tracked symbolic link among the parents could lead outside the worktree.
  if (!isInside(from.worktree.path, dirname(target))) {
    from.note(`${name} would be outside the worktree: skipped.`);
    return false;
  }
  withPersonalUmask(() => {
    mkdirSync(dirname(target), { recursive: true });
    put(source, target);
  });
  return true;
}

/** Complete or absent: the next attempt would take a half-copied file for the real one. */
function copyWhole(from: Provision, source: string, target: string): void {
  const temporary = join(from.scratch, "copy");
  rmSync(temporary, { recursive: true, force: true });
  mkdirSync(from.scratch, { recursive: true, mode: 0o700 });
  cpSync(source, temporary, {
    recursive: true,
    verbatimSymlinks: true,
    preserveTimestamps: true,
    mode: constants.COPYFILE_FICLONE,
  });
  renameSync(temporary, target);
}

/** Files that match `.worktreeinclude` and that git ignores; tracked and untracked files are never copied. */
async function readIncluded(from: Provision): Promise<string[]> {
  const call = { gitDir: from.worktree.commonDir, workTree: from.root, config: from.filters };
  const listed = await git(
    "read",
    ["ls-files", "-z", "--others", "--ignored", `--exclude-from=${join(from.root, includeFile)}`],
    call,
  );
  const names = listed.split("\0").filter((name) => name !== "" && !name.endsWith("/"));
  if (names.length === 0) return [];
  const ignored = await runGit("read", ["check-ignore", "-z", "--stdin"], { ...call, input: `${names.join("\0")}\0` });
  return ignored.stdout.split("\0").filter((name) => name !== "");
}

/** A pattern such as `node_modules/` does not match a link of that name, which would then appear as untracked. */
async function keepOutOfStatus(from: Provision, names: readonly string[]): Promise<void> {
  const { worktree, filters: config } = from;
  const args = ["status", "--porcelain", "-z", "--untracked-files=all", "--ignore-submodules=all"];
  const status = await git("read", args, { worktree, config });
  const untracked = new Set(
    status
      .split("\0")
      .filter((entry) => entry.startsWith("?? "))
      .map((entry) => entry.slice(3)),
  );
  const shown = names.filter((name) => [...untracked].some((path) => path === name || path.startsWith(`${name}/`)));
  if (shown.length > 0) excludePatterns(worktree.commonDir, shown.map(literalPattern));
}

/**
 * Adds patterns to the repository's own `info/exclude`, to keep our files out of `git status`. git has one such file
 * for all worktrees.
 */
export function excludePatterns(commonDir: string, patterns: readonly string[]): void {
  const file = join(commonDir, "info", "exclude");
  const text = readOrEmpty(file);
  const known = new Set(text.split("\n").map((line) => line.trimEnd()));
  const missing = [...new Set(patterns)].filter((pattern) => !known.has(pattern));
  if (missing.length === 0) return;
  withPersonalUmask(() => {
    mkdirSync(dirname(file), { recursive: true });
    // Appended in one write: two sessions that start at the same time lose no lines.
    appendFileSync(file, `${text === "" || text.endsWith("\n") ? "" : "\n"}${missing.join("\n")}\n`);
  });
}

/** An exclude pattern that matches exactly this path. */
function literalPattern(path: string): string {
  return `/${path.replaceAll(/[\\*?[\]!# ]/g, String.raw`\$&`)}`;
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
