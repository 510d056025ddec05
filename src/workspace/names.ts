/** Names that are safe for git, for tmux and as part of a path. */
import { join } from "node:path";
import { HoldfastError } from "../protocol/error.ts";
import { projectIdPattern, sessionIdPattern } from "../protocol/ids.ts";

/** Short enough for a line of a list and for every file system that keeps a ref as a file. */
export const maxBranchLength = 60;

/**
 * A branch from an issue's key and a title or name: lower case letters, digits, `.`, `-`. `#(…)` and the like are legal
 * in git but would be run by tmux, so nothing else gets through.
 */
export function branchName(from: { issue?: string | null; name?: string | null; session: string }): string {
  const issue = slug(from.issue ?? "");
  const name = slug(from.name ?? "");
  const joined = [issue, name.startsWith(issue) && issue !== "" ? name.slice(issue.length) : name]
    .map((part) => part.replace(/^-+/, ""))
    .filter((part) => part !== "")
    .join("-");
  const cut = trim(joined.slice(0, maxBranchLength));
  return cut === "" ? slug(from.session) || "session" : cut;
}

function slug(text: string): string {
  const plain = text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
  return trim(plain.replaceAll(/[^a-z0-9.]+/g, "-").replaceAll(/\.{2,}/g, "."));
}

/** No dot or dash at either end, no `.lock`: git refuses those. */
function trim(text: string): string {
  let cut = text.replaceAll(/^[-.]+|[-.]+$/g, "");
  while (cut.endsWith(".lock")) cut = cut.slice(0, -".lock".length).replaceAll(/[-.]+$/g, "");
  return cut === "head" ? "head-1" : cut;
}

/** The rules of `git check-ref-format --branch`, so that a bad name is refused before anything is made. */
export function isBranchName(name: string): boolean {
  if (name === "" || name === "@" || name === "HEAD" || name.startsWith("-") || Buffer.byteLength(name) > 240) return false;
  // oxlint-disable-next-line no-control-regex -- git forbids control characters
  if (/[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|\.$|^\/|\/$/.test(name)) return false;
  return name.split("/").every((part) => !part.startsWith(".") && !part.endsWith(".lock"));
}

/** Where a session's worktree lives: `<worktrees>/<project>/<session>`. */
export function sessionPath(worktreesDirectory: string, project: string, session: string): string {
  if (!projectIdPattern.test(project) || !sessionIdPattern.test(session)) {
    throw new HoldfastError("invalid", `Not a project and session: ${project}, ${session}`);
  }
  return join(worktreesDirectory, project, session);
}
