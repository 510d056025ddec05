/** Ids and prefixes derived from names. */
import { prefixPattern } from "../contract/ids.ts";

/** Any text as a project's or agent's id: `My App!` → `my-app`. */
export function safeName(text: string): string {
  const name = text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, "-")
    .replace(/^[-_]+/, "")
    .slice(0, maxIdLength)
    .replace(/[-_]+$/, "");
  return name === "" ? "project" : name;
}

/** Leaves room for a number within the 63 characters of an id. */
const maxIdLength = 58;
const maxPrefixLength = 12;

/** The initials of an id's words, or the first three letters of a single word: `my-app` → `ma`, `holdfast` → `hol`. */
export function prefixFor(id: string): string {
  const parts = id
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((part) => part !== "");
  const [only = ""] = parts;
  const short = parts.length > 1 ? parts.map((part) => part.charAt(0)).join("") : only.slice(0, 3);
  const prefix = short.slice(0, maxPrefixLength);
  return prefixPattern.test(prefix) ? prefix : `p${prefix}`;
}

/** The name, or with the first free number: `ma`, `ma2`, `ma3`. */
export function unused(name: string, isTaken: (name: string) => boolean, separator = ""): string {
  if (!isTaken(name)) return name;
  for (let number = 2; ; number++) {
    const next = `${name}${separator}${number}`;
    if (!isTaken(next)) return next;
  }
}
