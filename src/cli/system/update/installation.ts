/** How this Holdfast was installed, by its directory alone: npm may only replace its own installations. */
import { existsSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { readJson } from "../../../base/durable-file.ts";
import { HoldfastError } from "../../../contract/errors.ts";

export interface NpmInstallation {
  kind: "npm";
  root: string;
  scope: "global" | "local";
  /** The value for `npm install --prefix`. */
  prefix: string;
  name: string;
  /** Not published: a package of that name in a registry would belong to another author. */
  unpublished: boolean;
}

export type Installation =
  | NpmInstallation
  | { kind: "checkout"; root: string }
  | { kind: "npx"; root: string; name: string }
  | { kind: "managed"; root: string; name: string; by: Manager }
  | { kind: "unknown"; root: string };

type Manager = "pnpm" | "yarn" | "bun";

/** Lock files by which another package manager claims a directory. */
const lockFiles: readonly (readonly [string, Manager])[] = [
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["bun.lock", "bun"],
  ["bun.lockb", "bun"],
];

/** `root`: the package's directory, links resolved. */
export function readInstallation(root: string): Installation {
  if (existsSync(join(root, ".git"))) return { kind: "checkout", root };
  const own = readPackage(root);
  const modules = own === null || !root.endsWith(`${sep}${own.name}`) ? root : root.slice(0, -own.name.length - 1);
  if (own === null || basename(modules) !== "node_modules") return { kind: "unknown", root };
  const { name, unpublished } = own;
  if (root.includes(`${sep}_npx${sep}`)) return { kind: "npx", root, name };
  if (root.includes(`${sep}.pnpm${sep}`)) return { kind: "managed", root, name, by: "pnpm" };
  const parent = dirname(modules);
  const by = lockFiles.find(([file]) => existsSync(join(parent, file)))?.[1];
  if (by !== undefined) return { kind: "managed", root, name, by };
  // npm's global packages are in <prefix>/lib, which is not a package itself.
  const isGlobal = basename(parent) === "lib" && !existsSync(join(parent, "package.json"));
  return isGlobal
    ? { kind: "npm", root, scope: "global", prefix: dirname(parent), name, unpublished }
    : { kind: "npm", root, scope: "local", prefix: parent, name, unpublished };
}

/** The installation if npm can update it; otherwise throws an error that names the right tool. */
export function requireNpmInstallation(installation: Installation): NpmInstallation {
  if (installation.kind === "npm") return installation;
  const [message, hint] = whyNot(installation);
  throw new HoldfastError("preflight-failed", message, { hint });
}

function whyNot(installation: Exclude<Installation, NpmInstallation>): [message: string, hint: string] {
  const { root } = installation;
  switch (installation.kind) {
    case "checkout":
      return [
        `${root} is a git checkout; not updated.`,
        "Update it with: git pull && npm ci && npm run build, then holdfast restart.",
      ];
    case "npx": {
      const hint = `Run the latest version with: npx ${installation.name}@latest`;
      return ["This Holdfast was fetched by npx and is not installed.", hint];
    }
    case "managed": {
      const { name, by } = installation;
      return [`${root} was installed by ${by}; not updated.`, `Update ${name} with ${by}, then run holdfast restart.`];
    }
    case "unknown":
    default: {
      const hint = "Update it the way it was installed, then run holdfast restart.";
      return [`${root} was not installed by npm; not updated.`, hint];
    }
  }
}

function readPackage(root: string): { name: string; unpublished: boolean } | null {
  const read = readJson(join(root, "package.json"));
  const { name, private: unpublished } = (read.is === "known" ? read.value : {}) as {
    name?: unknown;
    private?: unknown;
  };
  return typeof name === "string" && name !== "" ? { name, unpublished: unpublished === true } : null;
}
