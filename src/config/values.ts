import { hostPattern, namedCaches } from "../contract/containment.ts";
import { hiddenCharacters } from "../model/text.ts";
import * as z from "zod/mini";

/** Linux refuses a single argument or variable of 128 KiB. */
export const maxTextLength = 100_000;

/** A check with its own message and hint. */
export const rule = (fault: (text: string) => { message: string; hint: string } | null) =>
  z.superRefine<string>((text, context) => {
    const found = fault(text);
    if (found !== null) {
      context.issues.push({ code: "custom", input: text, message: found.message, params: { hint: found.hint } });
    }
  });
export const noNul = rule((text) =>
  text.includes("\0") ? { message: "may not contain a NUL character", hint: "remove the \\0" } : null,
);
export const text = (): z.ZodMiniString => z.string().check(z.minLength(1), z.maxLength(maxTextLength), noNul);

/** A problem of a single value: a message that follows the key's name, and a hint. */
export interface Fault {
  message: string;
  hint: string;
}

/** Entries of `symlinks` and `copy`: they are read from the repository and written into a worktree, so they must stay inside both. */
export function relativePathFault(path: string): Fault | null {
  if (path.startsWith("/") || path.startsWith("~")) {
    return { message: `must stay inside the repository, but ${quote(path)} is absolute`, hint: insideHint };
  }
  const segments = path.split("/").filter((segment) => segment !== "" && segment !== ".");
  if (segments.includes("..")) {
    return { message: `must stay inside the repository, but ${quote(path)} leaves it`, hint: insideHint };
  }
  if (segments.length === 0) {
    return { message: `must name something inside the repository, not ${quote(path)}`, hint: insideHint };
  }
  if (segments[0]?.toLowerCase() === ".git") {
    return { message: "may not name git's own files", hint: "worktrees share them already; remove the line" };
  }
  return null;
}

/** Entries of `passEnv`: a name, or a prefix followed by `*`. Agents never get Holdfast's own variables. */
export function passEnvFault(name: string): Fault | null {
  if (!/^[A-Za-z_][A-Za-z0-9_]*\*?$/.test(name)) {
    return {
      message: `is not the name of an environment variable: ${quote(name)}`,
      hint: "write a name such as MY_TOKEN, or a prefix such as ACME_*",
    };
  }
  return /^HOLDFAST_?/.test(name)
    ? { message: `may not name a variable of Holdfast itself: ${quote(name)}`, hint: "remove the line" }
    : null;
}

/** Entries of `contain.read` and `contain.write`: a package cache by name, or a path that means the same everywhere. */
export function containPathFault(path: string): Fault | null {
  if (Object.hasOwn(namedCaches, path)) return null;
  const hint = `write an absolute path, one that begins with ~/, or ${Object.keys(namedCaches).join(", ")}`;
  if (!path.startsWith("/") && !path.startsWith("~/"))
    return { message: `is neither a path nor a cache: ${quote(path)}`, hint };
  return path.split("/").includes("..") ? { message: `may not contain "..": ${quote(path)}`, hint } : null;
}

export function hostFault(host: string): Fault | null {
  if (hostPattern.test(host)) return null;
  return { message: `is not a host: ${quote(host)}`, hint: "write a name such as api.example.com, without https://" };
}

/** The common rules of git check-ref-format; git checks again. */
export function branchFault(name: string): Fault | null {
  const wrong =
    // eslint-disable-next-line no-control-regex
    /[\u0000-\u0020\u007f~^:?*[\\]/.test(name) ||
    name.includes("..") ||
    name.includes("//") ||
    name.includes("@{") ||
    /(^[-/]|[/.]$|\.lock$|^@$|(^|\/)\.)/.test(name);
  return wrong
    ? { message: `is not a branch name: ${quote(name)}`, hint: "write it as in `git branch`, such as main" }
    : null;
}

/** Text from a file, safe to print: control and direction characters do not reach the terminal. */
export function quote(text: string): string {
  const short = text.length > maxQuoted ? `${text.slice(0, maxQuoted)}…` : text;
  return JSON.stringify(short).replace(invisible, "\ufffd");
}

const insideHint = "name a path below the repository, such as .env";
/** Enough to recognize a line. */
const maxQuoted = 60;
const invisible = new RegExp(String.raw`[\u007f-\u009f${hiddenCharacters}]`, "gu");
