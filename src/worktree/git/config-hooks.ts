/** Newer git runs hooks that configuration names, whatever `core.hooksPath` says: each is switched off by its name. */
import { join } from "node:path";
import type { ConfigEntry } from "./git-rules.ts";
import type { GitAnswer, GitCall } from "./git.ts";
import { readText } from "./read-regular.ts";

type Ask = (kind: "look", args: readonly string[], call: GitCall) => Promise<Pick<GitAnswer, "stdout">>;

/** Switches off the hook that a key of configuration belongs to; nothing for any other key. */
export function hookOff(key: string): ConfigEntry[] {
  const name = /^hook\.(.*)\.[^.]+$/s.exec(key)?.[1];
  return name === undefined
    ? []
    : [
        [`hook.${name}.enabled`, "false"],
        [`hook.${name}.event`, ""],
      ];
}

/** For a call that writes refs. git is asked only where a file of the repository's configuration may name a hook. */
export async function repositoryHooksOff(call: GitCall, ask: Ask): Promise<ConfigEntry[]> {
  const { gitDir, worktree, admin, workTree } = call;
  const of = worktree ?? admin;
  const main = of?.commonDir ?? gitDir;
  if (main === undefined) return [];
  const more = [main, ...(of === undefined ? [] : [of.admin])].map((folder) =>
    readText(join(folder, "config.worktree")),
  );
  // A worktree's directory, given as a repository, has its configuration elsewhere.
  if (![readText(join(main, "config")) ?? unknown, ...more].some(mayName)) return [];
  const where = { gitDir, worktree, admin, workTree };
  const given = Object.fromEntries(Object.entries(where).filter(([, value]) => value !== undefined));
  const { stdout } = await ask("look", ["config", "-z", "--name-only", "--get-regexp", String.raw`^hook\.`], given);
  return stdout.split("\0").flatMap(hookOff);
}

/** As long as what is read of it: the rest may hold anything. */
const longText = 60_000;

const unknown = "include";

/** Another file may be included. */
function mayName(text: string | null): boolean {
  return text !== null && (text.length > longText || /hook|include/i.test(text));
}
