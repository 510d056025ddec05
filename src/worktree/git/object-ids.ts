/** Object ids have 40 digits, or 64 in a repository of git's SHA-256 format. */
import { askGit, type GitCall } from "./git.ts";

/** The id of nothing, as long as this repository's ids are. `known`: any id of it, which saves asking git. */
export async function nullId(call: GitCall, known: string | null = null): Promise<string> {
  return "0".repeat(known?.length ?? (await idLength(call)));
}

export async function idLength(call: GitCall): Promise<number> {
  return (await askGit("look", ["rev-parse", "--show-object-format"], call)) === "sha256" ? 64 : 40;
}

export const isNullId = (id: string): boolean => /^0+$/.test(id);
