/** What a contained agent sees of the machine: programs, its own state, its worktree. Nothing else exists inside. */
import { existsSync, lstatSync, readdirSync, realpathSync, statSync } from "node:fs";
import { delimiter, dirname, isAbsolute, join, relative } from "node:path";
import { findProgram } from "../base/find-program.ts";
import { namedCaches } from "../contract/containment.ts";

/** Read-only, if they exist. Nothing of /var, /srv, /mnt, /home and the rest of /run. */
const system = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib32",
  "/lib64",
  "/etc",
  "/opt",
  "/nix",
  "/snap",
  "/run/systemd/resolve",
  "/run/current-system",
];

/** Toolchains in the home, and git's configuration. */
const programs = [
  ".nvm",
  ".volta",
  ".fnm",
  ".local/share/fnm",
  ".bun",
  ".deno",
  ".cargo/bin",
  ".cargo/env",
  ".rustup",
  ".pyenv",
  ".rbenv",
  ".sdkman",
  ".local/bin",
  ".local/lib",
  ".local/share/mise",
  ".local/share/uv",
  ".local/share/pipx",
  ".local/share/claude",
  ".asdf",
  "go/bin",
  ".npm-global",
  ".gitconfig",
  ".config/git/config",
  ".config/git/ignore",
  ".config/git/attributes",
];

/** Folders that contain more than programs: a `bin` in one of these does not add its neighbors. */
const mixed = ["", ".local", ".config", ".cache", ".local/share", ".local/state"];

export interface View {
  /** As the agent sees it. */
  home: string;
  /** Every home that must be hidden: the agent's, and that of the daemon's user. */
  homes: readonly string[];
  /** Holdfast's own folders: always hidden, whatever is shown around them. */
  hidden: readonly string[];
  path: string;
  /** The agent's program and the files that its command names. */
  command: readonly string[];
  read: readonly string[];
}

/** The system, an empty home, and what programs need. */
export function baseMounts(view: View): string[] {
  const { homes, hidden } = view;
  const shown = system.filter((path) => existsSync(path));
  const args = shown.flatMap((path) => ["--ro-bind", path, path]);
  // Root could read everything in /etc: cover what others may not read.
  if (process.getuid?.() === 0) args.push(...unreadable("/etc", 2));
  args.push("--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--tmpfs", "/tmp");
  for (const home of homes) args.push("--perms", "0700", "--tmpfs", home);
  const inHome = homes.flatMap((home) => programs.map((name) => join(home, name)));
  const wanted = [...inHome, ...pathFolders(view)].filter((path) => isHarmless(path, view));
  for (const path of new Set([...wanted, ...view.read])) {
    if (!existsSync(path)) continue;
    args.push("--ro-bind", path, path);
    shown.push(path);
  }
  // Covered again if a shown folder contains them.
  for (const path of hidden) {
    if (existsSync(path) && shown.some((around) => isWithin(path, around))) args.push("--tmpfs", path);
  }
  for (const path of new Set(programFolders(view))) args.push("--ro-bind", path, path);
  return args;
}

/** A package cache's name, `~/x`, or an absolute path. Folders to write exist afterwards. */
export function expandPaths(entries: readonly string[], home: string): string[] {
  return entries
    .flatMap((entry) => namedCaches[entry] ?? [entry])
    .map((entry) => (entry === "~" || entry.startsWith("~/") ? join(home, entry.slice(1)) : entry));
}

export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith("../") && !isAbsolute(way));
}

/** Shows neither a home nor Holdfast's own folders. */
function isHarmless(path: string, { homes, hidden }: View): boolean {
  return path !== "/" && ![...homes, ...hidden].some((secret) => isWithin(secret, path));
}

/** Folders of PATH outside the system's, as real paths, with what their programs need next to them. */
function pathFolders(view: View): string[] {
  const entries = view.path.split(delimiter).filter((entry) => isAbsolute(entry) && existsSync(entry));
  return entries
    .flatMap((entry) => [entry, realpathSync(entry)])
    .map((entry) =>
      /\/(node_modules\/\.)?bin$/.test(entry) && !isMixed(dirname(entry), view) ? dirname(entry) : entry,
    )
    .filter((entry) => !system.some((base) => isWithin(entry, base)));
}

function isMixed(folder: string, { homes }: View): boolean {
  return homes.some((home) => mixed.some((name) => folder === join(home, name)));
}

/** The agent's real program, because PATH often contains a link, and files that its command names. */
function programFolders(view: View): string[] {
  return view.command.flatMap((word, index) => {
    const found = index === 0 ? findProgram(word, view.path) : isAbsolute(word) ? word : null;
    if (found === null || statSync(found, { throwIfNoEntry: false })?.isFile() !== true) return [];
    const real = realpathSync(found);
    const modules = real.indexOf("/node_modules/");
    const folder = modules >= 0 ? real.slice(0, modules + "/node_modules".length) : dirname(real);
    // Of Holdfast's own folders only this file is shown.
    const isOurs = view.hidden.some((secret) => isWithin(folder, secret));
    const isAlone = isMixed(folder, view) || !isHarmless(folder, view) || isOurs;
    return [found, isAlone ? real : folder].filter((path) => !system.some((base) => isWithin(path, base)));
  });
}

function unreadable(folder: string, depth: number): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined || stat.isSymbolicLink()) return [];
    if (stat.isDirectory()) {
      if ((stat.mode & 0o005) === 0) return ["--perms", "0700", "--tmpfs", path];
      return depth > 1 ? unreadable(path, depth - 1) : [];
    }
    return stat.isFile() && (stat.mode & 0o004) === 0 ? ["--ro-bind", "/dev/null", path] : [];
  });
}

/** Whether a path, or a link's target, exists. */
export function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
