/** A worktree's changes as a git patch of bounded size; a truncated patch is still readable. */
import { HoldfastError } from "../../contract/errors.ts";
import type { Against } from "../../ports/worktree.ts";
import type { PatchJson } from "../../contract/worktree.ts";
import { listDiffering, readable } from "./changes.ts";
import { compare, diffArguments } from "./compare.ts";
import type { Context } from "../context.ts";
import { gitFailed, runGit } from "../git/git.ts";
import type { Worktree } from "../record.ts";

/** More would stall the browser. */
const maxPatchBytes = 8 * 1024 * 1024;
const maxFileBytes = 2 * 1024 * 1024;

export async function readPatch(
  context: Pick<Context, "worktrees">,
  worktree: Worktree,
  against: Against,
  file: string | null,
): Promise<PatchJson> {
  if (file !== null) checkFile(file);
  return await compare(context, worktree, against, async (comparison) => {
    let paths: string[] = [];
    if (file !== null) {
      const name = Buffer.from(file).toString("latin1");
      const found = (await listDiffering(comparison)).find((each) => each.path === name);
      if (found === undefined) return { patch: "", truncated: false };
      // Include the old name, or git shows a rename as a new file. A name that is not UTF-8 is not found.
      paths = [found.oldPath, found.path].flatMap((each) => (each === null ? [] : [readable(each)]));
    }
    const args = [...diffArguments, "--patch", comparison.from, "--", ...paths];
    const maxBytes = file === null ? maxPatchBytes : maxFileBytes;
    const answer = await runGit("read", ["--literal-pathspecs", ...args], { ...comparison.call, maxBytes, cut: true });
    if (answer.code !== 0) throw gitFailed(args, answer.stderr);
    return limitPatch(answer.stdout, answer.cut === true, maxFileBytes);
  });
}

/** Input is latin1, output is text. `cut`: the last file is incomplete. */
export function limitPatch(bytes: string, cut: boolean, fileBytes: number): PatchJson {
  const files = bytes === "" ? [] : bytes.split(/^(?=diff --git )/m);
  let truncated = cut;
  const limited = files.map((file, at) => {
    const isWhole = file.length <= fileBytes && !(cut && at === files.length - 1);
    truncated ||= !isWhole;
    return isWhole ? file : cutFile(file.slice(0, fileBytes));
  });
  return { patch: Buffer.from(limited.join(""), "latin1").toString("utf8"), truncated };
}

/** Cuts at the last complete line and corrects the line counts in the last hunk's header. */
function cutFile(file: string): string {
  const text = file.slice(0, file.lastIndexOf("\n") + 1);
  const hunks = [...text.matchAll(/^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@.*\n/gm)];
  const last = hunks.at(-1);
  // Without a hunk only half a header would remain.
  if (last === undefined) return /^(Binary files|GIT binary patch|rename to|new file mode) /m.test(text) ? text : "";
  const body = text.slice(last.index + last[0].length);
  const lines = body.split("\n").slice(0, -1);
  const count = (mark: string): number => lines.filter((line) => line.startsWith(" ") || line.startsWith(mark)).length;
  const header = `@@ -${last[1]},${count("-")} +${last[2]},${count("+")} @@\n`;
  return text.slice(0, last.index) + (lines.length === 0 ? "" : header + body);
}

function checkFile(file: string): void {
  const segments = file.split("/");
  if (!file.includes("\0") && segments.every((segment) => segment !== "" && segment !== "." && segment !== ".."))
    return;
  throw new HoldfastError("invalid", "`path` must be a file's path inside the worktree.");
}
