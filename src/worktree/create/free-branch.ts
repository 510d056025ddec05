/**
 * A name for a branch that nobody has. By reading git's files where they hold the refs: a spawn is measured in
 * milliseconds, and a process for this question would be a fifth of them.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { git } from "../git/git.ts";
import { holderOf, openRepository, type Repository } from "../git/repository.ts";

/** `wanted`, else `wanted-2`, `wanted-3` …: the first that is neither there nor checked out, not even unborn. */
export async function findFreeBranch(path: string, wanted: string): Promise<string> {
  const repository = await openRepository(path);
  const isThere = await readBranches(repository, wanted);
  const parts = wanted.split("/");
  // With a branch `a` there can be no `a/b`, whatever number is put behind it.
  const blocked = parts.some((_, at) => at > 0 && isThere(parts.slice(0, at).join("/"), "exactly"));
  const stem = blocked ? parts.join("-") : wanted;
  for (let number = 1; ; number++) {
    const name = number === 1 ? stem : `${stem}-${number}`;
    if (!isThere(name, "or below") && (await holderOf(repository, name, "")) === null) return name;
  }
}

type IsThere = (name: string, where: "exactly" | "or below") => boolean;

async function readBranches({ commonDir }: Repository, wanted: string): Promise<IsThere> {
  if (existsSync(join(commonDir, "reftable"))) return await askBranches(commonDir, wanted);
  const packed = readPacked(commonDir);
  return (name, where) => {
    const file = statSync(join(commonDir, "refs/heads", name), { throwIfNoEntry: false });
    if (file !== undefined && (where === "or below" || file.isFile())) return true;
    return (
      packed.includes(` refs/heads/${name}\n`) || (where === "or below" && packed.includes(` refs/heads/${name}/`))
    );
  };
}

function readPacked(commonDir: string): string {
  try {
    return readFileSync(join(commonDir, "packed-refs"), "utf8");
  } catch {
    return "";
  }
}

async function askBranches(commonDir: string, wanted: string): Promise<IsThere> {
  const first = wanted.split("/")[0]!;
  const patterns = [`refs/heads/${first}`, `refs/heads/${first}-*`, `refs/heads/${first}-*/**`];
  const names = (
    await git("look", ["for-each-ref", "--format=%(refname:lstrip=2)", "--", ...patterns], { gitDir: commonDir })
  ).split("\n");
  return (name, where) => names.some((one) => one === name || (where === "or below" && one.startsWith(`${name}/`)));
}
