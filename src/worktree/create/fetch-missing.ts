/**
 * The one operation of ours that talks to a remote. A partial clone lacks objects; git would fetch each when it comes upon
 * it, by the ssh command, helper or program that the repository's configuration names. Here the checkout's missing objects
 * are fetched at once, before it, from a git directory of ours: only the person's own configuration counts in that, and all
 * that the repository says is the address.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crypto } from "../../base/digest.ts";
import { HoldfastError } from "../../contract/error.ts";
import type { Context } from "../context.ts";
import { checkoutDeadlineMs, git, runGit, type GitResult } from "../git/git.ts";
import type { Repository } from "../git/repository.ts";

/** Trees may be missing too: each fetch may bring some whose own entries are missing. */
const maxRounds = 64;

/** Makes a commit's files complete, and says so; throws with the command to run where that fails. */
export async function fetchMissing(
  context: Pick<Context, "worktrees">,
  repository: Repository,
  commit: string,
  note: (text: string) => void,
): Promise<void> {
  let fetched = 0;
  for (let round = 0; round < maxRounds; round++) {
    const missing = await listMissing(repository, commit);
    if (missing.length === 0) break;
    const url = await promisorUrl(repository);
    if (url === null) throw cannotFetch(repository, commit, "its configuration names no remote to fetch from");
    const answer = await fetchFrom(context, repository, url, missing);
    if (answer.code !== 0) {
      const said = answer.stderr.trim().split("\n").at(-1) ?? "";
      throw cannotFetch(repository, commit, `fetching from ${withoutLogin(url)} failed: ${said}`);
    }
    fetched += missing.length;
    if (round === 0) note(`This repository is a partial clone. Fetching missing objects from ${withoutLogin(url)} …`);
  }
  if (fetched > 0) note(`Fetched ${fetched} objects.`);
}

async function listMissing({ commonDir }: Repository, commit: string): Promise<string[]> {
  const args = ["rev-list", "--objects", "--no-walk", "--missing=print", commit];
  const text = await git("look", args, { gitDir: commonDir, deadlineMs: checkoutDeadlineMs });
  return text.split("\n").flatMap((line) => /^\?([0-9a-f]{40,64})$/.exec(line)?.[1] ?? []);
}

async function promisorUrl({ commonDir }: Repository): Promise<string | null> {
  const asked = "^(extensions\\.partialclone|remote\\..*\\.(promisor|url))$";
  const answer = await runGit("look", ["config", "-z", "--get-regexp", asked], { gitDir: commonDir });
  const settings = answer.stdout.split("\0").map((entry) => {
    const cut = entry.indexOf("\n");
    return cut < 0 ? ([entry, ""] as const) : ([entry.slice(0, cut), entry.slice(cut + 1)] as const);
  });
  const named = settings.findLast(([key]) => key === "extensions.partialclone")?.[1];
  const promisors = settings.flatMap(([key]) => /^remote\.(.*)\.promisor$/s.exec(key)?.[1] ?? []);
  const remote = named ?? promisors[0];
  return settings.find(([key]) => key === `remote.${remote}.url`)?.[1] ?? null;
}

async function fetchFrom(
  context: Pick<Context, "worktrees">,
  { commonDir }: Repository,
  url: string,
  wanted: readonly string[],
): Promise<GitResult> {
  const directory = join(context.worktrees, ".scratch", `fetch-${crypto().randomBytes(6).toString("hex")}`);
  for (const name of ["objects", "refs"]) mkdirSync(join(directory, name), { recursive: true, mode: 0o700 });
  try {
    const long = "\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n";
    const isLong = wanted[0]?.length === 64;
    writeFileSync(join(directory, "config"), `[core]\n\tbare = true\n${isLong ? long : ""}`);
    writeFileSync(join(directory, "HEAD"), "ref: refs/heads/none\n");
    const args = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--stdin", "--", url];
    const input = wanted.map((id) => `${id}\n`).join("");
    const env = { GIT_OBJECT_DIRECTORY: join(commonDir, "objects") };
    return await runGit("fetch", args, { gitDir: directory, env, input, deadlineMs: checkoutDeadlineMs });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function cannotFetch({ root, commonDir }: Repository, commit: string, why: string): HoldfastError {
  const where = root ?? commonDir;
  return new HoldfastError("preflight-failed", `${where} is a partial clone that lacks files of ${commit}: ${why}.`, {
    hint: `Fetch them yourself, then try again: git -C ${where} archive --output=/dev/null ${commit}`,
  });
}

/** An address may hold a password. */
function withoutLogin(url: string): string {
  return url.replace(/^([a-z+]+:\/\/)[^/@]*@/i, "$1");
}
