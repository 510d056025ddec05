/**
 * The only operation that contacts a remote. In a partial clone git would fetch each missing object on demand, with the
 * ssh command, helper or program that the repository's configuration names. This fetches the checkout's missing objects
 * beforehand, from our own git directory: it uses only your own configuration, and the repository provides only
 * the address.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HoldfastError } from "../../contract/errors.ts";
import { inScratch, type Context } from "../context.ts";
import { checkoutDeadlineMs, git, runGit, type GitResult } from "../git/git.ts";
import { writeConfig } from "../git/git-files.ts";
import type { Repository } from "../git/repository.ts";

/** Trees may be missing too: a fetched tree may have missing entries. */
const maxRounds = 64;

/** Completes a commit's files and reports it; throws with the command to run if that fails. */
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
      const message = answer.stderr.trim().split("\n").at(-1) ?? "";
      throw cannotFetch(repository, commit, `fetching from ${withoutLogin(url)} failed: ${message}`);
    }
    fetched += missing.length;
    if (round === 0) note(`This repository is a partial clone. Fetching missing objects from ${withoutLogin(url)} …`);
  }
  if (fetched > 0) note(`Fetched ${fetched} objects.`);
}

async function listMissing({ commonDir }: Repository, commit: string): Promise<string[]> {
  const args = ["rev-list", "--objects", "--no-walk", "--missing=print", commit];
  const text = await git("read", args, { gitDir: commonDir, deadlineMs: checkoutDeadlineMs });
  return text.split("\n").flatMap((line) => /^\?([0-9a-f]{40,64})$/.exec(line)?.[1] ?? []);
}

async function promisorUrl({ commonDir }: Repository): Promise<string | null> {
  const asked = "^(extensions\\.partialclone|remote\\..*\\.(promisor|url))$";
  const answer = await runGit("read", ["config", "-z", "--get-regexp", asked], { gitDir: commonDir });
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
  return await inScratch(context, "fetch", async (directory) => {
    for (const name of ["objects", "refs"]) mkdirSync(join(directory, name), { mode: 0o700 });
    writeConfig(directory, { isBare: true, isLong: wanted[0]?.length === 64 });
    writeFileSync(join(directory, "HEAD"), "ref: refs/heads/none\n");
    const args = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--stdin", "--", url];
    const input = wanted.map((id) => `${id}\n`).join("");
    const env = { GIT_OBJECT_DIRECTORY: join(commonDir, "objects") };
    return await runGit("fetch", args, { gitDir: directory, env, input, deadlineMs: checkoutDeadlineMs });
  });
}

function cannotFetch({ root, commonDir }: Repository, commit: string, why: string): HoldfastError {
  const where = root ?? commonDir;
  return new HoldfastError("preflight-failed", `${where} is a partial clone that lacks files of ${commit}: ${why}.`, {
    hint: `Fetch them yourself, then try again: git -C ${where} archive --output=/dev/null ${commit}`,
  });
}

/** An address may contain a password. */
function withoutLogin(url: string): string {
  return url.replace(/^([a-z+]+:\/\/)[^/@]*@/i, "$1");
}
