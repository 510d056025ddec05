/** Names made from what people write: safe as a branch, a directory, a tmux session and a session id. */
import type { SessionId } from "../protocol/ids.ts";

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
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, maxSlug)
    .replace(/-+$/, "");
  return plain === "" ? "x" : plain;
}

/** The branch of a new session: from its issue and title where it has them, else from its id. */
export function branchFor(from: { session: SessionId; issue: string | null; title: string | null }): string {
  const words = [from.issue, from.title].filter((text) => text !== null && text !== "").map((text) => slug(text!));
  const number = from.issue === null ? null : /-(\d+)$/.exec(from.session)?.[1];
  if (words.length === 0) return `holdfast/${from.session}`;
  // A second session for the same issue has a number at the end of its id, and needs a branch of its own.
  const again =
    number !== null &&
    number !== undefined &&
    from.session.endsWith(`${slug(from.issue!)}-${number}`) &&
    slug(from.issue!) !== number;
  return `holdfast/${words.join("-").slice(0, 60).replace(/-+$/, "")}${again ? `-${number}` : ""}`;
}
