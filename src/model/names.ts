/** Names made from user text: safe as a branch, a directory, a tmux session and a session id. */
import type { SessionId } from "../contract/ids.ts";

/** Long enough to recognise an issue by, short enough for a list and for a file name. */
const maxSlug = 40;

/** Lower-case letters, digits and single dashes; never empty. */
export function slug(text: string): string {
  const last = /^https?:\/\//.test(text)
    ? (text
        .split(/[?#]/)[0]!
        .split("/")
        .findLast((part) => part !== "") ?? text)
    : text;
  const plain = last
    .normalize("NFKD")
    // NFKD separates accents from letters; a dash for each would split words.
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, maxSlug)
    .replace(/-+$/, "");
  return plain === "" ? "x" : plain;
}

/** Short enough for a line of a list. */
const maxBranch = 60;

/** The branch of a new session: from its issue and title, else from its id and title, so that no two are the same. */
export function branchFor(from: {
  session: SessionId;
  issue: string | null;
  title: string | null;
  again: number;
}): string {
  const issue = from.issue === null ? null : slug(from.issue);
  const title = from.title === null || from.title === "" ? null : slug(from.title);
  const rest =
    title !== null && issue !== null && title.startsWith(`${issue}-`) ? title.slice(issue.length + 1) : title;
  const words = [issue ?? from.session, rest === "x" ? null : rest].filter((word) => word !== null).join("-");
  // A second session for the same issue needs its own branch.
  return `${words.slice(0, maxBranch).replace(/-+$/, "")}${from.again > 1 ? `-${from.again}` : ""}`;
}
