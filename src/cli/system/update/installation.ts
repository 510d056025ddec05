/** How this Holdfast came to be where it is, told from its directory alone: only what npm put there is npm's to replace. */
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { HoldfastError } from "../../../contract/error.ts";

export interface NpmPlace {
  place: "npm";
  root: string;
  scope: "global" | "local";
  /** What `npm install --prefix` is given. */
  prefix: string;
  name: string;
  /** A package that is not published: a package of that name in a registry would be somebody else's. */
  unpublished: boolean;
}

export type Place =
  | NpmPlace
  | { place: "checkout"; root: string }
  | { place: "npx"; root: string; name: string }
  | { place: "managed"; root: string; name: string; by: Manager }
  | { place: "unknown"; root: string };

type Manager = "pnpm" | "yarn" | "bun";

/** Lock files by which another package manager claims a directory. */
const lockFiles: readonly (readonly [string, Manager])[] = [
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["bun.lock", "bun"],
  ["bun.lockb", "bun"],
];

/** `root`: the package's directory, links resolved. */
export function readPlace(root: string): Place {
  if (existsSync(join(root, ".git"))) return { place: "checkout", root };
  const own = readPackage(root);
  const modules = own === null || !root.endsWith(`${sep}${own.name}`) ? root : root.slice(0, -own.name.length - 1);
  if (own === null || basename(modules) !== "node_modules") return { place: "unknown", root };
  const { name, unpublished } = own;
  if (root.includes(`${sep}_npx${sep}`)) return { place: "npx", root, name };
  if (root.includes(`${sep}.pnpm${sep}`)) return { place: "managed", root, name, by: "pnpm" };
  const holder = dirname(modules);
  const by = lockFiles.find(([file]) => existsSync(join(holder, file)))?.[1];
  if (by !== undefined) return { place: "managed", root, name, by };
  // npm's global packages lie in <prefix>/lib, which is no package of its own.
  const isGlobal = basename(holder) === "lib" && !existsSync(join(holder, "package.json"));
  return isGlobal
    ? { place: "npm", root, scope: "global", prefix: dirname(holder), name, unpublished }
    : { place: "npm", root, scope: "local", prefix: holder, name, unpublished };
}

/** The place, if npm can update it; else an error that says who can. */
export function requireNpmPlace(place: Place): NpmPlace {
  const { root } = place;
  switch (place.place) {
    case "npm":
      return place;
    case "checkout":
      throw notOurs(
        `${root} is a git checkout; it was left as it is.`,
        "Update it with: git pull && npm ci && npm run build, then holdfast restart.",
      );
    case "npx":
      throw notOurs(
        "This Holdfast was fetched by npx and is not installed.",
        `Run the newest with: npx ${place.name}@latest`,
      );
    case "managed":
      throw notOurs(
        `${root} was installed by ${place.by}; it was left as it is.`,
        `Update ${place.name} with ${place.by}, then run holdfast restart.`,
      );
    case "unknown":
      throw notOurs(
        `${root} was not installed by npm; it was left as it is.`,
        "Update it the way it was installed, then run holdfast restart.",
      );
    default:
      return place satisfies never;
  }
}

function notOurs(message: string, hint: string): HoldfastError {
  return new HoldfastError("preflight-failed", message, { hint });
}

function readPackage(root: string): { name: string; unpublished: boolean } | null {
  try {
    const { name, private: unpublished } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      name?: unknown;
      private?: unknown;
    };
    return typeof name === "string" && name !== "" ? { name, unpublished: unpublished === true } : null;
  } catch {
    return null;
  }
}
